"""Words and sentences: a table of them, and what holds for any text at all."""

import itertools
import re

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from herded import HerdedError
from herded.ner.text.tokenizer import _UNSEEN, sentences, text_blocks, word_spans
from tests.support.example_budget import examples
from tests.support.timeouts import ending

ENDS = " || "  # of a sentence, in the table

TABLE = [
    # punctuation
    ("Hello, world!", "Hello , world !"),
    ("Wait -- what; why: no?", "Wait -- what ; why : no ?"),
    ("A (small) [test] {here}.", "A ( small ) [ test ] { here } ."),
    ('He said "no" twice.', 'He said " no " twice .'),
    ("``Go,'' he said.", "`` Go , '' he said ."),
    ("\u201cGo,\u201d he said.", "\u201c Go , \u201d he said ."),
    ("It rose 5% to $3.", "It rose 5 % to $ 3 ."),
    ("50%-off and/or nothing", "50 % - off and / or nothing"),
    ("foo--bar \u2014 baz\u2014qux", "foo -- bar \u2014 baz \u2014 qux"),
    ("What?! No!!!", "What ?! || No !!!"),
    # clitics
    ("Kenya's ruler doesn't go.", "Kenya 's ruler does n't go ."),
    ("They're sure we'll win; I'd've left.", "They 're sure we 'll win ; I 'd 've left ."),
    ("I can\u2019t, she\u2019s here.", "I ca n\u2019t , she \u2019s here ."),
    ("DON'T! IT'S HOT.", "DO N'T ! || IT 'S HOT ."),
    ("The workers' pay and O'Neill's.", "The workers ' pay and O'Neill 's ."),
    ("the U.S.'s debt", "the U.S. 's debt"),
    ("Ma'am, it is five o'clock.", "Ma'am , it is five o'clock ."),
    ("music of the '90s and 1990s", "music of the '90s and 1990s"),
    # numbers and hyphens
    ("1,000.5 dollars, 3.9 or .5", "1,000.5 dollars , 3.9 or .5"),
    ("at 4:30 on 3/14/98, 1997-98.", "at 4:30 on 3/14/98 , 1997-98 ."),
    ("a cash-strapped 20-year-old", "a cash-strapped 20-year-old"),
    ("snake_case and _emphasis_", "snake_case and _ emphasis _"),
    ("It cost 5. He paid 6.", "It cost 5 . || He paid 6 ."),
    # abbreviations
    ("Mr. Smith met Dr. Jones.", "Mr. Smith met Dr. Jones ."),
    ("Mr. He and Gen. So left.", "Mr. He and Gen. So left ."),
    ("He left the U.S. The end.", "He left the U.S. || The end ."),
    ("The U.S. troops left.", "The U.S. troops left ."),
    ("In the U.S. Congress met.", "In the U.S. Congress met ."),
    ('They left the U.S. "We won," he said.', 'They left the U.S. || " We won , " he said .'),
    ("J. Smith and J.R.R. Tolkien", "J. Smith and J.R.R. Tolkien"),
    ("George W. Bush met J. K. Rowling.", "George W. Bush met J. K. Rowling ."),
    ("J.Smith agreed with Smith, J., yesterday.", "J. Smith agreed with Smith , J. , yesterday ."),
    ("It is layout B. The rest is layout C.", "It is layout B. || The rest is layout C ."),
    ("So am I. You know I. M. Pei.", "So am I . || You know I. M. Pei ."),
    ("Acme Corp. said Apple Inc. won.", "Acme Corp. said Apple Inc. won ."),
    ("He works for Acme Corp. They pay.", "He works for Acme Corp. || They pay ."),
    ("He works for Acme Corp.", "He works for Acme Corp."),
    ("ACME CORP. WINS", "ACME CORP. WINS"),
    ("Come at 5 p.m. Monday.", "Come at 5 p.m. Monday ."),
    ("Come at 5 a.m. We open then.", "Come at 5 a.m. || We open then ."),
    ("On Jan. 5 in Boston, Mass., it rained.", "On Jan. 5 in Boston , Mass. , it rained ."),
    ("No. 5 is out. No. It is in.", "No. 5 is out . || No . || It is in ."),
    ("See p. 5, e.g. the top, etc. Then stop.", "See p. 5 , e.g. the top , etc. || Then stop ."),
    ("A U.S.-led force with a Ph.D. in it.", "A U.S.-led force with a Ph.D. in it ."),
    ("Roe v. Wade vs. The Rest", "Roe v. Wade vs. The Rest"),
    ("AT&T and P&G's shares at S&P", "AT&T and P&G 's shares at S&P"),
    ("Yahoo! Inc. is big. Is it? Yahoo!", "Yahoo! Inc. is big . || Is it ? || Yahoo!"),
    # ends of sentences
    ("One. Two? Three! Four", "One . || Two ? || Three ! || Four"),
    ("He said. and went on.", "He said . and went on ."),
    ('"Why?" he asked. "No." She left.', '" Why ? " he asked . || " No . " || She left .'),
    ("``Now.'' They left. ''", "`` Now . '' || They left . ''"),
    ("(It was late.) He slept.", "( It was late . ) || He slept ."),
    ("He left... Then he came back.", "He left ... || Then he came back ."),
    ("He left ... and came back\u2026 Then no.", "He left ... and came back \u2026 || Then no ."),
    ("He left . . . and then ! ! ! He sat .", "He left . . . and then ! ! ! || He sat ."),
    ("It is over. (See below.)", "It is over . || ( See below . )"),
    ("Take 5. 6 are left.", "Take 5 . || 6 are left ."),
    ("1. Mix well. 2. Bake.", "1 . Mix well . || 2 . Bake ."),
    ("in 1990. The end.The next", "in 1990 . || The end . The next"),
    # newswire
    ("NAIROBI, Kenya (AP) _ Thousands left.", "NAIROBI , Kenya ( AP ) _ Thousands left ."),
    ("ATLANTA, Ga. _ The fans left.", "ATLANTA , Ga. _ The fans left ."),
    (
        "A headline\n\nThe text\nis wrapped. So\nit is.",
        "A headline || The text is wrapped . || So it is .",
    ),
    ("Old Mac\r\rWindows\r\n\r\nboth\r\nare fine", "Old Mac || Windows || both are fine"),
    ("No end\n\t   New paragraph", "No end || New paragraph"),
    ("Layout B\n\n5 left", "Layout B || 5 left"),
    ("It is layout B.\n\nSmith left.", "It is layout B . || Smith left ."),
    # tweets
    ("RT @user_1: #win now :-) <3", "RT @user_1 : #win now :-) <3"),
    (".@user's #1 #caf\u00e9.", ". @user 's #1 #caf\u00e9 ."),
    (
        "See https://t.co/a?b=1,2. Or www.foo.com/x!",
        "See https://t.co/a?b=1,2 . || Or www.foo.com/x !",
    ),
    ("Mail a.b@c.co.uk, buy at Amazon.com.", "Mail a.b@c.co.uk , buy at Amazon.com ."),
    ("Great! \U0001f600 Thanks", "Great ! \U0001f600 || Thanks"),
    (
        "\U0001f62d\U0001f62d ok\U0001f44d\U0001f3fd",
        "\U0001f62d \U0001f62d ok \U0001f44d\U0001f3fd",
    ),
    (
        "\U0001f468\u200d\U0001f469\u200d\U0001f467\U0001f1fa\U0001f1f8 1\ufe0f\u20e3",
        "\U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f1fa\U0001f1f8 1\ufe0f\u20e3",
    ),
    ("I \u2764\ufe0f it\u2764\ufe0f", "I \u2764\ufe0f it \u2764\ufe0f"),
    ("a &amp; b &lt;3", "a &amp; b &lt; 3"),
    # other scripts, and what does not print
    (
        "cafe\u0301 na\u00efve \u0939\u093f\u0928\u094d\u0926\u0940",
        "cafe\u0301 na\u00efve \u0939\u093f\u0928\u094d\u0926\u0940",
    ),
    ("\u4f60\u597d\u3002\u4e16\u754c\uff01", "\u4f60\u597d \u3002 || \u4e16\u754c \uff01"),
    ("zero\u200bwidth\ufeff soft\xadhyphen\x00\x07", "zero width soft\xadhyphen"),
    ("a\xa0b\u2003c\u2028d", "a b c d"),
    ("\ud800 lone", "\ud800 lone"),
    ("", ""),
    (" \n\n \t\x00 ", ""),
]


@pytest.mark.parametrize(("text", "expected"), TABLE)
def test_the_table(text, expected):
    found = sentences(text)
    assert ENDS.join(" ".join(text[a:b] for a, b in part) for part in found) == expected
    assert list(itertools.chain(*found)) == word_spans(text)


PIECES = [
    *("U.S.", "Mr.", "J.", "I.", "a.m.", "No.", "Corp.", "The", "Smith", "said", "n't", "'s", "5"),
    *(
        "1,000",
        ".",
        "..",
        "?",
        "!",
        "''",
        "``",
        '"',
        ")",
        "(",
        "_",
        "-",
        "--",
        "@",
        "#x",
        "http://",
    ),
    *("www.", "a.com", "a@b.co", "&amp;", ":)", "\U0001f600", "\u200d", "\ufe0f", "\u0301", "\x00"),
    *(
        " ",
        " ",
        " ",
        "\n",
        "\n\n",
        "\n\t",
        "\r\n",
        "\r",
        "\x0c",
        "\u2029",
        "\xa0",
        "\u3002",
        "\ud800",
    ),
]
odd_text = st.lists(st.sampled_from(PIECES), max_size=25).map("".join)
any_text = st.one_of(
    odd_text,
    st.text(),
    st.text(st.characters(categories=["Cc", "Cf", "Cs", "Mn", "Po", "So", "Lu"])),
)


@given(any_text)
@example("0\u1680")  # a blank among the letters of Ogham
@examples(500)
def test_words_cover_all_that_prints(text):
    found = word_spans(text)
    covered = set()
    last = 0
    for start, end in found:
        assert last <= start < end
        assert not any(character.isspace() for character in text[start:end])
        covered.update(range(start, end))
        last = end
    unseen = re.compile(f"[{_UNSEEN}]")
    for at, character in enumerate(text):
        assert at in covered or character.isspace() or unseen.match(character)


@given(any_text)
@examples(500)
def test_sentences_hold_the_words_in_order(text):
    found = sentences(text)
    assert all(found)
    assert list(itertools.chain(*found)) == word_spans(text)


@given(any_text, any_text)
def test_a_blank_line_parts_texts(one, two):
    shift = len(one) + 2
    parted = sentences(one) + [[(a + shift, b + shift) for a, b in part] for part in sentences(two)]
    assert sentences(f"{one}\n\n{two}") == parted


@given(st.lists(any_text, max_size=6), st.integers(1, 40))
@examples(300)
def test_blocks_joined_are_the_text(lines, limit):
    found = list(text_blocks(lines, limit))
    assert "".join(found) == "".join(lines)
    assert all(0 < len(block) <= limit for block in found)


@given(st.lists(odd_text, min_size=1, max_size=8), st.integers(2, 80))
@examples(300)
def test_blocks_cut_at_paragraphs_change_no_sentence(paragraphs, limit):
    assume(all(len(paragraph) + 2 <= limit for paragraph in paragraphs))
    text = "\n\n".join(paragraphs)
    found = []
    shift = 0
    for block in text_blocks([text], limit):
        found += [[(a + shift, b + shift) for a, b in part] for part in sentences(block)]
        shift += len(block)
    assert found == sentences(text)


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("One.\n\nTwo. Three.\n\nFour", 18, ["One.\n\n", "Two. Three.\n\nFour"]),
        ("One two. Three four", 15, ["One two. ", "Three four"]),
        ("one two three four", 10, ["one two ", "three four"]),
        ("abcdefgh", 3, ["abc", "def", "gh"]),
        ("short", 10, ["short"]),
        ("", 10, []),
    ],
)
def test_where_blocks_are_cut(text, limit, expected):
    assert list(text_blocks([text], limit)) == expected
    assert list(text_blocks(text, limit)) == expected  # character by character


def test_blocks_need_room():
    with pytest.raises(HerdedError, match="at least 1 character, got limit=0"):
        list(text_blocks(["a"], 0))


def test_blocks_take_only_as_many_lines_as_they_need():
    lines = (f"Line {i}.\n\n" for i in itertools.count())
    assert len(list(itertools.islice(text_blocks(lines, 1000), 5))) == 5


@pytest.mark.parametrize(
    "piece",
    [
        *(
            "a",
            "a.",
            "A. ",
            "I.\n",
            "http://",
            "www..",
            "a.com/",
            "a@",
            "a.b-",
            "'",
            "n't",
            "1,",
            "&a",
        ),
        *(".", ". ", "!?", "''", ". ''", "(", " ", "\n", "\n\t", "_", "-", "\U0001f600", "\u200d"),
        *(
            "\u0301",
            "1\ufe0f",
            "U.S. ",
            "#",
            "@a",
            "\u3002",
            "No. ",
            ".  \n",
            "\ud800",
            "a'",
            "a\u200d",
        ),
    ],
)
def test_time_is_linear(piece):
    """If every character looked at all before it, this would take 10^10 steps."""
    with ending():
        sentences((piece * 100_000)[:100_000])
