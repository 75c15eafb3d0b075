"""`herded denoise`: pictures of every format, what is printed, and what is left on the disk."""

import os
import re

import numpy as np
import pytest

from herded.cli.main import main
from herded.io.images import read_image, write_image
from herded.paper.denoising import drawn_picture
from herded.vision.noise import two_level_fit
from tests.support.commands import fails, start_quickly
from tests.support.example_budget import ALL
from tests.support.timeouts import HANGS

pytestmark = pytest.mark.usefixtures("own_folder")
PICTURES = pytest.importorskip("PIL.Image", reason="pictures need Pillow")
SIDE = 64
CLEAN = drawn_picture(SIDE)


def noisy_file(name, noise=0.5, seed=0):
    """The drawn picture, noisy, in the format the name says; and clean as clean.png."""
    rng = np.random.default_rng(seed)
    if name.endswith(".pbm"):
        write_image(name, CLEAN ^ (rng.random(CLEAN.shape) < 0.08))
    elif name.endswith(".tif"):
        write_image(name, np.where(CLEAN, 200.0, 50.0) + 75 * noise * rng.normal(size=CLEAN.shape))
    else:
        write_image(name, 0.25 + 0.5 * CLEAN + 0.25 * noise * rng.normal(size=CLEAN.shape))
    write_image("clean.png", CLEAN)


@pytest.mark.parametrize("source", ["noisy.png", "noisy.pbm", "noisy.tif"])
@pytest.mark.parametrize("target", ["out.png", "out.pbm", "out.tif"])
def test_denoise_a_picture(source, target, capsys):
    noisy_file(source)
    coupling = [] if target == "out.png" else ["--coupling", "0.8"]  # found once: it takes long
    assert main(["denoise", source, "--out", target, "--truth", "clean.png", *coupling]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert f"{SIDE} x {SIDE} pixels" in out and "30 sweeps" in out
    before, after = map(float, re.search(r"([\d.]+)% before, ([\d.]+)% after", out).groups())
    assert after < before / 2 and after < 1.0
    assert f"wrote {target} and out-before-after.png" in out
    found = read_image(target)
    assert ((found > (found.max() + found.min()) / 2) != CLEAN).mean() < 0.01
    beside = read_image("out-before-after.png")
    assert beside.shape[0] == SIDE and beside.shape[1] >= 2 * SIDE
    assert ((beside[:, -SIDE:] > 0.5) != CLEAN).mean() < 0.01
    assert sorted(os.listdir()) == sorted({source, target, "clean.png", "out-before-after.png"})


@pytest.mark.parametrize(
    "method", ["herd", "shared", "herded", "pooled", "gibbs", "mean-field", "bp"]
)
def test_denoise_by_every_method(method, capsys):
    noisy_file("noisy.png")
    options = ["--method", method, "--sigma", "0.125", "--coupling", "0.8", "--sweeps", "9"]
    assert main(["denoise", "noisy.png", "--out", "out.png", *options]) == 0
    assert "sigma 0.125, coupling 0.8" in capsys.readouterr().out
    assert ((read_image("out.png") > 0.5) != CLEAN).mean() < 0.02


def test_denoise_grey_levels(capsys):
    clean = np.add.outer(np.linspace(0.1, 0.9, 48), np.linspace(0.1, 0.9, 40)) / 2
    write_image("clean.tif", clean)
    write_image("noisy.tif", clean + 0.1 * np.random.default_rng(0).normal(size=clean.shape))
    options = ["--levels", "grey", "--truth", "clean.tif"]
    assert main(["denoise", "noisy.tif", "--out", "out.tif", *options]) == 0
    out = capsys.readouterr().out
    before, after = map(float, re.search(r"error ([\d.]+) before, ([\d.]+) after", out).groups())
    assert after < before / 2


def test_denoise_levels_beyond_zero_and_one_are_shown_in_a_png():
    noisy_file("noisy.tif")
    main(["denoise", "noisy.tif", "--out", "out.png"])
    assert np.array_equal(np.unique(read_image("out.png")), [0, 1])


def test_denoise_one_pixel_and_a_colour_picture(capsys):
    write_image("one.png", np.array([[0.3]]))
    assert main(["denoise", "one.png", "--out", "out.png"]) == 0
    assert read_image("out.png")[0, 0] == pytest.approx(0.3, abs=0.003)
    assert "left as it is" in capsys.readouterr().out
    colours = np.stack([0.8 * CLEAN, 0.5 * CLEAN, 0.9 * CLEAN], axis=2)
    PICTURES.fromarray((255 * colours).astype(np.uint8)).save("colour.png")
    assert main(["denoise", "colour.png", "--out", "out.png"]) == 0
    assert np.array_equal(read_image("out.png"), read_image("colour.png"))  # clean, so unchanged


def test_denoise_takes_levels_by_value_and_noise_by_name(capsys):
    noisy_file("noisy.png")
    arguments = ["--levels", "0.25,0.75", "--noise", "gauss", "--out", "out.png"]
    assert main(["denoise", "noisy.png", *arguments]) == 0
    assert "levels 0.25, 0.75, sigma 0.12" in capsys.readouterr().out
    assert np.array_equal(np.unique(read_image("out.png")), [0, 1])
    noisy_file("noisy.pbm")
    assert main(["denoise", "noisy.pbm", "--noise", "flip", "--out", "out.png"]) == 0
    flips = float(re.search(r"flips ([\d.]+)%", capsys.readouterr().out)[1])
    assert flips == pytest.approx(100 * (read_image("noisy.pbm") != CLEAN).mean(), abs=1)


def test_denoise_says_where_two_levels_do_not_fit(capsys):
    slope = np.add.outer(np.linspace(0, 0.5, 48), np.linspace(0, 0.5, 48))
    write_image("grey.png", slope + 0.05 * np.random.default_rng(0).normal(size=slope.shape))
    assert main(["denoise", "grey.png", "--out", "out.png", "--levels", "2"]) == 0
    out, err = capsys.readouterr()
    assert "two levels do not fit" in out and "--levels grey" in out and err == ""


def test_an_unreadable_file_is_one_sentence_and_exit_code_three():
    left = start_quickly("denoise", "missing.png", "--out", "out.png")
    out, err = left.communicate(timeout=HANGS)
    assert left.returncode == 3 and out == ""
    assert err == ("herded: expected a picture at missing.png, but there is no such file\n")


def test_denoise_wrong_files_and_options(capsys):
    noisy_file("noisy.png")
    write_image("small.png", CLEAN[:5])
    write_image("nan.tif", np.full((2, 2), np.nan))
    os.mkdir("folder")
    with open("text.png", "w") as file:
        file.write("no picture")
    before = sorted(os.listdir())

    def said(*arguments, code=1):
        return fails(capsys, code, "denoise", *arguments)

    out = ("--out", "out.png")
    known = ("--sigma", "0.125", "--coupling", "0.8", "--levels", "0.25,0.75")  # nothing to fit
    assert "cannot be read" in said("text.png", *out, code=3)
    assert "no such file" in said("missing.png", *out, code=3)
    assert "directory" in said("folder", *out, code=3)
    assert "NaN" in said("nan.tif", *out)
    assert f"(5, {SIDE})" in said("noisy.png", *out, "--truth", "small.png")
    assert "no such file" in said("noisy.png", *out, "--truth", "missing.png", code=3)
    assert "sigma" in said("noisy.png", *out, "--sigma", "0")
    assert "sigma" in said("noisy.png", *out, "--sigma", "nan")
    assert "--coupling" in said("noisy.png", *out, "--coupling", "strong")
    assert "coupling" in said("noisy.png", *out, "--coupling", "inf")
    assert "noise" in said("noisy.png", *out, "--noise", "salt")
    assert "--method" in said("noisy.png", *out, "--method", "magic")
    assert "levels" in said("noisy.png", *out, "--levels", "1")
    assert "sweeps" in said("noisy.png", *out, *known, "--sweeps", "0")
    assert "No such file" in said("noisy.png", *known, "--out", "no/out.png", code=3)
    assert "file name that ends in" in said("noisy.png", *known, "--out", "out.xyz")
    assert sorted(os.listdir()) == before


def test_denoise_a_large_picture(capsys):
    """Of which only a part is fitted to."""
    clean = drawn_picture(264)
    assert clean.size > two_level_fit.MAX_FIT_PIXELS
    noise = np.random.default_rng(0).normal(size=clean.shape)
    write_image("noisy.png", 0.25 + 0.5 * clean + 0.25 * noise)
    coupling = [] if ALL else ["--coupling", "2.0"]  # which is found, in three times as long
    assert main(["denoise", "noisy.png", "--out", "out.png", *coupling]) == 0
    said = capsys.readouterr().out
    assert "264 x 264 pixels" in said and re.search(r"30 sweeps, [\d.]+ s in all", said)
    wrong = (read_image("out.png") > 0.5) != clean
    assert wrong.mean() < 0.002  # all along the edges, whose share is 1 / side
