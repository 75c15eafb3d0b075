"""Pictures on disk: what is read, what is written, and nothing half-written."""

import os
import warnings

import numpy as np
import pytest

from herded import HerdedError

pytest.importorskip("PIL", reason="pictures need Pillow")

from PIL import Image

from herded.io import images as pictures
from herded.io.images import read_image, write_image

GREY = (np.arange(48).reshape(6, 8) * 5).astype(np.uint8)
WHITE = GREY > 100


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def read_quietly(path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return read_image(path)


@pytest.mark.parametrize("name", ["a.png", "a.pbm", "a.tif", "a.bmp"])
def test_two_valued_files_are_bool(name):
    Image.fromarray(WHITE).save(name)
    found = read_quietly(name)
    assert found.dtype == bool and np.array_equal(found, WHITE)


@pytest.mark.parametrize("name", ["a.png", "a.pgm", "a.tif", "a.bmp", "a.gif"])
def test_eight_bits_are_zero_to_one(name):
    Image.fromarray(GREY).save(name)
    assert np.array_equal(read_quietly(name), GREY / 255)


@pytest.mark.parametrize("name", ["a.png", "a.pgm", "a.tif"])
def test_sixteen_bits_are_zero_to_one(name):
    Image.fromarray(GREY.astype(np.uint16) * 257).save(name)
    assert np.allclose(read_quietly(name), GREY / 255)


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "LA", "P", "CMYK"])
def test_colours_are_averaged_to_grey(mode):
    name = "a.tif" if mode == "CMYK" else "a.png"
    Image.fromarray(GREY).convert("RGB" if mode == "CMYK" else mode).convert(mode).save(name)
    assert np.allclose(read_quietly(name), GREY / 255, atol=1.5 / 255)


def test_colours_weigh_as_the_eye_weighs_them():
    Image.fromarray(np.array([[[255, 0, 0], [0, 255, 0], [0, 0, 255]]], np.uint8)).save("a.png")
    red, green, blue = read_quietly("a.png")[0]
    assert green > red > blue


def test_a_float_tiff_stays_as_it_is():
    values = np.random.default_rng(0).normal(size=(5, 7)).astype(np.float32) * 100
    Image.fromarray(values).save("a.tif")
    assert np.array_equal(read_quietly("a.tif"), values)


@pytest.mark.parametrize(
    "name", ["a.png", "a.pbm", "a.pgm", "a.tif", "a.TIFF", "a.PNG", "a.bmp", "a"]
)
def test_what_is_written_is_read_again(name):
    write_image(name, WHITE)
    assert np.array_equal(read_quietly(name) > 0.5, WHITE)
    write_image(name, GREY / 255)
    assert np.allclose(read_quietly(name), GREY / 255)
    assert os.listdir() == [name]


def test_floats_survive_a_tiff_and_are_clipped_elsewhere():
    values = np.array([[-3.0, 0.5, 200.0]])
    write_image("a.tif", values)
    write_image("a.png", values)
    assert np.array_equal(read_quietly("a.tif"), values)
    assert np.allclose(read_quietly("a.png"), [[0, 128 / 255, 1]])


def test_others_may_read_what_was_written():
    before = os.umask(0o022)
    try:
        write_image("a.png", WHITE)
    finally:
        os.umask(before)
    assert os.stat("a.png").st_mode & 0o777 == 0o644


def broken_files():
    Image.fromarray(GREY).save("whole.png")
    Image.fromarray(GREY / np.float32(7)).save("whole.tif")
    with open("whole.png", "rb") as file:
        png = file.read()
    with open("whole.tif", "rb") as file:
        tif = file.read()
    flipped = bytearray(png)
    flipped[len(png) // 2] ^= 255
    return {
        "text.png": b"this is no picture",
        "empty.png": b"",
        "half.png": png[: len(png) // 2],
        "start.png": png[:20],
        "flipped.png": bytes(flipped),
        "start.tif": tif[:30],
        "half.tif": tif[: len(tif) // 2],
        "letters.pgm": b"P2\n2 2\n255\n1 2 a 4\n",
        "short.pgm": b"P5\n4 4\n255\nab",
        "none.pgm": b"P5\n0 0\n255\n",
        "negative.pgm": b"P5\n-3 2\n255\nabcdef",
        "bomb.pgm": b"P5\n60000 60000\n255\n",
    }


def test_broken_files_are_one_sentence():
    for name, content in broken_files().items():
        with open(name, "wb") as file:
            file.write(content)
        with pytest.raises(HerdedError, match=rf"^expected a picture at {name}, got a file that"):
            read_quietly(name)


def test_missing_files_and_folders_are_one_sentence(tmp_path):
    with pytest.raises(HerdedError, match=r"^expected a picture at no\.png, but there is no such"):
        read_image("no.png")
    with pytest.raises(HerdedError, match=r"^expected a picture at .*directory"):
        read_image(tmp_path)


@pytest.mark.parametrize("name", ["no/a.png", "file.txt/a.png", "folder", "folder.png", "a\0.png"])
def test_a_place_that_cannot_be_written(name):
    os.mkdir("folder")
    os.mkdir("folder.png")
    with open("file.txt", "w"):
        pass
    with pytest.raises(HerdedError, match=r"^could not write the picture "):
        write_image(name, WHITE)
    assert sorted(os.listdir()) == ["file.txt", "folder", "folder.png"]
    assert os.listdir("folder") == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission():
    os.mkdir("closed", 0o500)
    with pytest.raises(HerdedError, match=r"^could not write the picture .*[Pp]ermission"):
        write_image("closed/a.png", WHITE)


@pytest.mark.parametrize("name", ["a.xyz", "a.npy", "a.txt"])
def test_an_unknown_suffix(name):
    with pytest.raises(HerdedError, match=rf"^expected a file name that ends in .*, got {name}"):
        write_image(name, WHITE)
    assert os.listdir() == []


@pytest.mark.parametrize(
    "image", [np.zeros((0, 2)), np.zeros(3), np.zeros((2, 2, 3)), [["a"]], np.array([[np.nan]])]
)
def test_what_is_no_picture_is_not_written(image):
    with pytest.raises(HerdedError, match=r"^expected "):
        write_image("a.png", image)
    assert os.listdir() == []


def test_a_failure_midway_leaves_the_old_file(monkeypatch):
    write_image("a.png", WHITE)

    def full_disk(self, file, **_):
        file.write(b"half of a picture")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Image.Image, "save", full_disk)
    with pytest.raises(HerdedError, match=r"picture a\.png: No space left on device$"):
        write_image("a.png", ~WHITE)
    assert os.listdir() == ["a.png"]
    assert np.array_equal(read_image("a.png"), WHITE)


def test_without_pillow_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "PIL", None)
    with pytest.raises(HerdedError, match=r"pip install 'herded\[io\]'"):
        pictures.read_image("a.png")
