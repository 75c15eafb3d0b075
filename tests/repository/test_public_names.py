"""What `import herded` offers, and what it costs."""

import importlib
import subprocess
import sys

import pytest

import herded as hd

GONE = [
    "AnnealedGibbs",
    "AnnealedHerdedGibbs",
    "CapError",
    "SupportError",
    "HerdedSampler",
    "Moment",
    "Plan",
    "chain",
    "compile_plan",
    "herd",
    "herding",
    "pairwise",
    "plan_memory",
    "read_bif",
    "read_evidence",
    "read_uai",
    "read_xmlbif",
    "recommended",
    "skip_chain",
    "to_bqm",
    "write_bif",
    "write_mar",
    "write_uai",
    "write_xmlbif",
]


def alone(program):
    """What a process of its own prints."""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_it_loads_nothing_heavy():
    """Nor does looking at what there is."""
    heavy = "{'numpy', 'numba', 'rich', 'matplotlib', 'dimod', 'herded.errors'}"
    program = f"import sys, herded; dir(herded), herded.__all__; print({heavy} & set(sys.modules))"
    assert alone(program) == "set()\n"


@pytest.mark.parametrize("name", ["io", "qubo"])
def test_finding_a_package_loads_no_numpy(name):
    program = f"import sys, herded as hd; hd.{name}; dir(hd.{name}); print('numpy' in sys.modules)"
    assert alone(program) == "False\n"


@pytest.mark.parametrize(
    ("name", "module"),
    [
        ("io", "herded.io"),
        ("learn", "herded.learn"),
        ("ner", "herded.ner"),
        ("plot", "herded.plot"),
        ("qubo", "herded.qubo"),
        ("theory", "herded.theory"),
        ("vision", "herded.vision"),
    ],
)
def test_packages_are_found_without_importing_them(name, module):
    program = f"import herded as hd; print(hd.{name}.__name__, hd.{name} is hd.{name})"
    assert alone(program) == f"{module} True\n"
    assert getattr(hd, name) is importlib.import_module(module)


def test_plotting_loads_matplotlib_when_it_draws():
    program = "import sys, herded as hd; hd.plot; print('matplotlib' in sys.modules)"
    assert alone(program) == "False\n"


def test_every_name_is_there():
    assert sorted(hd.__all__) == sorted({"__version__", *dir(hd)} - {"__all__"})
    for name in hd.__all__:
        assert getattr(hd, name) is not None
    for name in hd.io.__all__:
        assert callable(getattr(hd.io, name))
    assert {"HerdedSampler", "from_bqm", "to_bqm"} <= set(dir(hd.qubo))
    assert hd.io.read_model is hd.read_model and hd.io.load_model is hd.load_model
    assert hd.io.save_model is hd.save_model and hd.qubo.from_bqm is hd.from_bqm


@pytest.mark.parametrize("name", GONE)
def test_old_names_are_gone(name):
    """Where another module was imported meanwhile, too."""
    assert name not in dir(hd)
    with pytest.raises(AttributeError, match=f"module 'herded' has no attribute '{name}'"):
        getattr(hd, name)


def test_a_name_that_is_not_there():
    for package in (hd, hd.io, hd.qubo):
        with pytest.raises(AttributeError, match=f"module '{package.__name__}' has no attribute"):
            _ = package.nonsense
    with pytest.raises(ImportError, match="cannot import name 'nonsense'"):
        from herded import nonsense  # noqa: F401


def test_import_everything():
    assert "HerdedGibbs read_uai" in alone(
        "from herded import *; from herded.io import *; from herded.qubo import *\n"
        "print(HerdedGibbs.__name__, read_uai.__name__, to_bqm.__name__, infer.__name__)"
    )
