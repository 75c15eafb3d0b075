"""The bundled model on short sentences: titles, acronyms, possessives, companies."""

import re

import pytest

from herded.ner import load

# "[P ...]" is a person, "[O ...]" an organisation, "[L ...]" a place; everything else is no name.
SENTENCES = """
Mr [P Palmer] said the talks had failed.
Ms [P Pugh] will speak in [L London] on Monday.
Mrs [P Thompson] lives in [L Leeds] with her son.
Dr [P Patel] works at a hospital in [L Mumbai].
Mr. [P Chen] met Mrs. [P Alvarez] in [L Madrid].
Yesterday Mr [P Okafor] and Ms [P Lindgren] signed the deal.
A letter to Mr [P Hughes] was never answered.
The court heard that Mrs [P Walker] had left the house.
Prof. [P Sandra Fischer] teaches history in [L Berlin].
Sir [P Michael Barker] retired in May.
President [P Barack Obama] visited [L Kenya].
Senator [P Elizabeth Warren] voted against the bill.
Prime Minister [P David Cameron] resigned.
The [L US] and the [L UK] agreed to share the data.
Exports from the [L UAE] fell sharply last year.
The [L U.S.] economy grew by two percent.
Workers in the [L UK] earn less than before.
He moved to the [L USA] in 1998.
Troops from the [L US] left the region in March.
The [O UN] and [O NATO] condemned the attack.
The [O EU] will meet again in [L Brussels].
The [O FBI] arrested two men in [L Chicago].
The [O BBC] reported the story first.
The [O IMF] lent money to [L Greece].
A spokesman for the [O CIA] declined to comment.
[O NASA] launched a probe from [L Florida].
[L Britain] 's economy shrank in the spring.
[L Germany] 's [P Angela Merkel] arrived in [L Paris].
[L Russia] 's president met [P Tony Blair] in [L Moscow].
[P Maria Gonzalez] 's brother lives in [L Lagos].
[O Microsoft] 's profits rose again.
[L Iran] 's nuclear program worries [L Israel].
[O Google] and [O Amazon] are hiring in [L Seattle].
[O Goldman Sachs] cut its forecast for [L China].
Shares of [O Apple] fell after the report.
[O Volkswagen] will close a plant in [L Brazil].
[O Toyota] said sales rose in [L Japan].
[O IBM] sold its factory in [L Dublin].
[O Boeing] and [O Airbus] signed new contracts.
[O General Motors] is based in [L Detroit].
Analysts at [O Morgan Stanley] expect lower rates.
She left [O Microsoft] to join [O Google].
[O Samsung] opened an office in [L Vietnam].
[O Huawei] denied the charges.
The [O World Bank] opened an office in [L Nairobi].
The [O Bank of England] raised interest rates.
The [O European Commission] fined [O Intel].
[O Oxford University] hired [P Anna Schmidt].
The [O Red Cross] sent food to [L Haiti].
The [O New York Times] hired [P James Miller].
The [O Supreme Court] rejected the appeal.
[O Hamas] and [O Fatah] held talks in [L Cairo].
The [O Labour Party] lost seats in [L Scotland].
[L Iran] and [L Iraq] reopened the border.
[P John Smith] and [P Mary Jones] live in [L Boston].
Muslims and Christians prayed together.
The French minister met Chinese officials.
The weather was cold and nobody went out.
On Tuesday the committee voted again.
""".strip().splitlines()
KINDS = {"P": "PERSON", "O": "ORGANIZATION", "L": "LOCATION"}
MARK = re.compile(r"\[([POL]) ([^]]*)\]")


@pytest.fixture(scope="module")
def english():
    return load()


@pytest.mark.parametrize("marked", SENTENCES)
def test_short_sentences(english, marked):
    text = MARK.sub(r"\2", marked).replace(" 's", "'s")
    wanted = [(name, KINDS[kind]) for kind, name in MARK.findall(marked)]
    assert [(entity.text, entity.kind) for entity in english.tag(text)] == wanted
