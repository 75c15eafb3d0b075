"""Files: models, evidence and answers in the formats that other programs read and write."""

from typing import TYPE_CHECKING

from herded.system.lazy import attach

_find, __dir__, _names = attach(
    "herded.io",
    {
        "herded.io.arrays": ["load_model", "save_model"],
        "herded.io.models": ["read_model"],
        "herded.io.bif": ["read_bif", "write_bif"],
        "herded.io.xmlbif": ["read_xmlbif", "write_xmlbif"],
        "herded.io.uai": ["read_uai", "write_uai"],
        "herded.io.uai_evidence": ["read_evidence", "read_evidences", "write_evidence"],
        "herded.io.uai_results": [
            "read_mar",
            "read_mpe",
            "read_pr",
            "write_mar",
            "write_mpe",
            "write_pr",
        ],
    },
)

if not TYPE_CHECKING:  # which would take any name for one of ours
    __getattr__, __all__ = _find, _names
else:
    from herded.io.arrays import load_model as load_model
    from herded.io.arrays import save_model as save_model
    from herded.io.bif import read_bif as read_bif
    from herded.io.bif import write_bif as write_bif
    from herded.io.models import read_model as read_model
    from herded.io.uai import read_uai as read_uai
    from herded.io.uai import write_uai as write_uai
    from herded.io.uai_evidence import (
        read_evidence as read_evidence,
    )
    from herded.io.uai_evidence import (
        read_evidences as read_evidences,
    )
    from herded.io.uai_evidence import (
        write_evidence as write_evidence,
    )
    from herded.io.uai_results import (
        read_mar as read_mar,
    )
    from herded.io.uai_results import (
        read_mpe as read_mpe,
    )
    from herded.io.uai_results import (
        read_pr as read_pr,
    )
    from herded.io.uai_results import (
        write_mar as write_mar,
    )
    from herded.io.uai_results import (
        write_mpe as write_mpe,
    )
    from herded.io.uai_results import (
        write_pr as write_pr,
    )
    from herded.io.xmlbif import read_xmlbif as read_xmlbif
    from herded.io.xmlbif import write_xmlbif as write_xmlbif
