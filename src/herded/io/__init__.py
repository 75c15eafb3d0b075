"""Files: models, evidence and answers in the formats that other programs read and write."""

from typing import TYPE_CHECKING

from herded.system.lazy import attach

__getattr__, __dir__, __all__ = attach(
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

if TYPE_CHECKING:
    from herded.io.arrays import load_model, save_model
    from herded.io.bif import read_bif, write_bif
    from herded.io.models import read_model
    from herded.io.uai import read_uai, write_uai
    from herded.io.uai_evidence import read_evidence, read_evidences, write_evidence
    from herded.io.uai_results import (
        read_mar,
        read_mpe,
        read_pr,
        write_mar,
        write_mpe,
        write_pr,
    )
    from herded.io.xmlbif import read_xmlbif, write_xmlbif
