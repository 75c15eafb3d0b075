from herded.io.model_arrays import load_model as load_model, save_model as save_model
from herded.io.bif import read_bif as read_bif, write_bif as write_bif
from herded.io.model_files import read_model as read_model
from herded.io.uai import read_uai as read_uai, write_uai as write_uai
from herded.io.uai_evidence import (
    read_evidence as read_evidence,
    read_evidences as read_evidences,
    write_evidence as write_evidence,
)
from herded.io.uai_results import (
    read_mar as read_mar,
    read_mpe as read_mpe,
    read_pr as read_pr,
    write_mar as write_mar,
    write_mpe as write_mpe,
    write_pr as write_pr,
)
from herded.io.xmlbif import read_xmlbif as read_xmlbif, write_xmlbif as write_xmlbif
