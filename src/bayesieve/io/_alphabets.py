"""Which characters texts of a language are made of: what tells encodings apart.

Bytes that are no UTF-8 can be read by dozens of encodings, and nearly all of them give
characters. Only one gives text: letters that are common in a language, beside letters
of the same alphabet, and signs where signs stand. So every alphabet is a distribution
of characters, and an encoding is as likely as the words that it makes of the bytes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from bayesieve.utils._computed_once import computed_once

__all__ = ["is_of_signs", "likelihood"]

#: Letters of languages that write Latin ones, small letters by how common they are.
_LATIN = {
    "western": {
        "French": "éèàêçôîûâùïëœ",
        "German": "üäöß",
        "Spanish": "óíáéñúü¿¡º",
        "Portuguese": "ãçáéíóêõúâàô",
        "Italian": "èàùòìéó",
        "Nordic": "äöåøæé",
        "Icelandic": "áíóéðöúþýæ",
        "Dutch": "ëéïèöóüê",
        "others": "ýÿţìòšž",
    },
    "central": {
        "Polish": "łęóążśćńź",
        "Czech": "íáéěřčýžšůúťďňó",
        "Slovak": "áíéčžýúšľťôňďóäĺŕ",
        "Hungarian": "áéóíöőüúű",
        "Croatian": "čšžćđ",
        "Romanian": "ăşîţâ",
    },
    "turkish": {"Turkish": "ıüşğçöİâî"},
    "baltic": {"Lithuanian": "ėšųžįąūčę", "Latvian": "āīēšūļģžņčķ"},
}
_RARE = {"Icelandic": 3.0}
_CYRILLIC = "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъёіїєґўПВСНОКТМИРДЗАБГУЧЭЕФЛХЯШЮЦЖЫЬІ"
_GREEK = "αοιετσνηυρπκμλςήίόάύέώωγδχθφβξζψΑΕΤΗΟΜΠΚΣΝΔΓΡΙΛΥΧΘΦΈΆΌΉΊΏΎΒΞΖΨΩϊϋ"
_HEBREW = "יוהלאמרתבשנעםדחקפגכטזןצסךףץְִַָֹּ"
_ARABIC = "اليمونترةبعدفهسكقحجأشصخطزذىئضإثغءظؤآپچگکی،؟"
_THAI = "านรอกเงมยลวดทสตะปบคหแจพชขใไโผถศธซฉภณญษฐ่้ีิัืุูำ์็ึๆฯ๊๋ฟฎฏฑฒฌฮ"
_HAN = "，。的一是不了人我在有他这为之大来以个中上们到说国和地也子时道出而要于就下得可你年生"
_SIMPLIFIED = (
    _HAN
    + "自会那后能对着事其里所去行过家十用发天如然作方成者多日都三小军二无同么经法当起与好看学进种"
    "将还分此心前面又定见只主没公从很酒店房间服务错差早吃住没太真便宜买质量送快东西！、？“”：；（）"
    "被样想电机开最已把问位全新高老外网号手次实点应给让些话因间美两等文件无效错误字符名使用"
)
_TRADITIONAL = (
    "，。的一是不了人我在有他這為之大來以個中上們到說國和地也子時道出而要於就下得可你年生"
    "自會那後能對著事其裡所去行過家十用發天如然作方成者多日都三小軍二無同麼經法當起與好看學進"
    "種將還分此心前面又定見只主沒公從很喜歡電影機開最已把問位全新高老外網號手次實點應給讓些話因"
    "間美兩等文件無效錯誤字元名使用！、？「」：；（）檔案選項"
)
_KANA = (
    "のるしてにたいはをとがでなすまれかきこうらもっりさあくけだよせそみどんわつめえおちばじろび"
    "ひほやごふへげずむねゆべぶぐぜぎざぬぞぼぱぴぷぺぽゃゅょぁぃぇぉー"
    "ンストルイアリラッドクレフタシコプデマジログセサムテキバオカウチメブエィダニナハミパモビビ"
    "ポワホェャュョゲズヤペゴケツヒソノネヌユヨヘギガザベボピァォ、。「」・"
)
_KANJI = (
    "日一国人年大十二本中長出三時行見月分後前生五間上東四今金九入学高円子外八六下来気小七山話女"
    "北午百書先名川千水半男西電校語土木食車何南万毎白天母火右読友左休父雨画映楽音素面白無効定指"
    "設用使表示不正文字列合場部力作方的要開始終了動自社会者新手地明"
)
_HANGUL = (
    "이다는을의에가하고지한도로기나사아리그어자들대시있인해만서과수것정으일보부전스장상라주여우제성"
    "않없니를은할오파위용면음요영화게까구거러내너네적조선동신원세안모무문국계경관당데드된될되말미"
    "반방번분비산생소속실심업연예유으임작저점중진차체출치타트특표행호후"
)
_MARKS = "\xa0«»“”’„–—…‘°€£§©®™•·´`¨²½µ±³¼×¾¹ºª¿¡¢¥‹›‚†‡‰÷¬¶"
#: What is beyond ASCII in English, the common ones first.
_ENGLISH = "’£–“”€—…°‘©®\xa0™é½§²µ•×±¼¥·¾³¢èüöñçáêïíóäâàô"
#: Letters that are beside each other make a word; signs and digits belong to none.
_LETTER = r"[^\W\d_ªºµ¹²³¼½¾ˆ]"
_FOREIGN = r"[^\W\d_ªºµ¹²³¼½¾ˆ\x00-\x7f]"
_WORDS = re.compile(f"{_LETTER}+")
_LETTERS_OF_ASCII = re.compile(r"[A-Za-z]")
_NO_SIGN = re.compile(_FOREIGN + "|[\ufffd\x80-\x9f]")
_RUN = re.compile(_FOREIGN + "{3,}")
_COMPACT = "[¡-©¬®-´¶-¸»-¿×÷†-‰ˆ˜ƒ]"
#: Where nobody puts it: letters at digits (but in Chinese: 3月), signs within words, one
#: sign at another, fractions and currencies at letters; points without a letter, final
#: letters within words, Cyrillic words without vowels, and what else no word ends in.
_MISPLACED = re.compile(
    rf"0(?=(?![⺀-\uffff]){_FOREIGN})|(?![⺀-\uffff]){_FOREIGN}(?=0)"
    rf"|(?<={_LETTER})[¡-¬®-¶¸-¿×÷†-‰€™•‹›‚„“”‘˜](?={_LETTER})"
    rf"|(?<={_LETTER})’(?=[a-z]{{2}})(?<!\b[a-zA-Z]’)(?<!\bqu’)(?<!\bQu’)(?!ll|re|ve)"
    rf"|({_COMPACT})(?!\1)(?={_COMPACT})"
    rf"|(?<={_LETTER})[¼½¾]|[¼½¾](?={_LETTER})|[£€¥](?={_FOREIGN})"
    r"|(?<![\u0590-\u0eff])[\u0591-\u05c7\u064b-\u065f\u0e31\u0e34-\u0e3a\u0e47-\u0e4e]"
    r"|[םןךףץ](?=[א-ת])|ς(?=[α-ώ])|σ(?!\w)"
    r"|(?<!\w)[бвгджзклмнпрстфхцчшщ]{3,}(?!\w)|(?<!\w)[ьъы]|[вгдзклмнптф]щ(?!\w)"
    r"|ŕ(?!\w)"
)

_ASCII = math.log(1 / 90)
_BROKEN = -20.0  # a byte that an encoding has no character for
_CONTROL = -15.0
_REST = math.log(0.05 / 20_000)
_TWO_ALPHABETS = math.log(0.001)
_CHANGE = math.log(0.25)  # a word of another language than the word before
_STRANGE = math.log(0.01)


@dataclass(frozen=True)
class Alphabet:
    """Characters beside those of ASCII, the common ones first in each group.

    `groups` have shares of the text; `mixes` says whether words also have letters of
    ASCII, as in French and unlike Russian; `rarity`, in nats, how much rarer files of
    a language are than those of its neighbours.
    """

    groups: tuple[tuple[float, str], ...]
    mixes: bool = False
    rarity: float = 0.0

    @computed_once
    def _chances(self) -> dict[str, float]:
        chances: dict[str, float] = {}
        for share, letters in (*self.groups, (0.15, _MARKS)):
            ranks = {letter: 1 / (i + 4) for i, letter in enumerate(letters)}
            total = sum(ranks.values())
            for letter, rank in ranks.items():
                chances[letter] = chances.get(letter, 0.0) + share * rank / total
        return {letter: math.log(chance) for letter, chance in chances.items()}

    def likelihood(self, word: str) -> float:
        """Logarithm of how likely a word is, in nats."""
        chances = self._chances
        total = 0.0
        for letter in word:
            if letter.isascii():
                printable = letter.isprintable() or letter in "\t\r\n"
                total += _ASCII if printable else _CONTROL
            elif letter == "\ufffd":
                total += _BROKEN
            elif letter < "\xa0" or 0xE000 <= ord(letter) < 0xF900:  # nobody's
                total += _CONTROL
            else:
                total += chances.get(letter, _REST)
        return total + self._strangeness(word)

    def _strangeness(self, word: str) -> float:
        """Add up, in nats, letters together that do not stand so in this alphabet."""
        if self.mixes:
            return _STRANGE * len(_RUN.findall(word))
        return _TWO_ALPHABETS * sum(
            not own.isascii() and _LETTERS_OF_ASCII.search(own) is not None
            for own in _WORDS.findall(word)
        )


def _of(
    *groups: tuple[float, str], mixes: bool = False, rarity: float = 0.0
) -> Alphabet:
    return Alphabet(groups, mixes, rarity)


def _latin(languages: Mapping[str, str]) -> list[Alphabet]:
    """One alphabet for each language: some letters are common, all are there."""
    every = "".join(languages.values())
    return [
        _of(
            *((0.82, own), (0.05, own.upper()), (0.04, every), (0.02, every.upper())),
            mixes=True,
            rarity=_RARE.get(name, 0.0),
        )
        for name, own in languages.items()
    ]


# What a group has beyond its common characters is shared by all that are left.
_HAN_BLOCK = "".join(map(chr, range(0x4E00, 0x9FA6)))
_HANGUL_BLOCK = "".join(map(chr, range(0xAC00, 0xD7A4)))
_FULL_WIDTH = "".join(map(chr, range(0xFF01, 0xFF5F))) + "\u3000"

_ALPHABETS: dict[str, list[Alphabet]] = {
    **{region: _latin(languages) for region, languages in _LATIN.items()},
    "western": [*_latin(_LATIN["western"]), _of((0.95, _ENGLISH), mixes=True)],
    "cyrillic": [_of((0.95, _CYRILLIC))],
    "greek": [_of((0.95, _GREEK))],
    "hebrew": [_of((0.95, _HEBREW))],
    "arabic": [_of((0.95, _ARABIC))],
    "thai": [_of((0.95, _THAI))],
    "simplified": [_of((0.65, _SIMPLIFIED), (0.28, _HAN_BLOCK), (0.02, _FULL_WIDTH))],
    "traditional": [_of((0.65, _TRADITIONAL), (0.28, _HAN_BLOCK), (0.02, _FULL_WIDTH))],
    "japanese": [
        _of((0.62, _KANA), (0.18, _KANJI), (0.12, _HAN_BLOCK), (0.03, _FULL_WIDTH))
    ],
    "korean": [_of((0.65, _HANGUL), (0.28, _HANGUL_BLOCK), (0.02, _FULL_WIDTH))],
}


def likelihood(region: str, words: Sequence[str]) -> float:
    """Logarithm of how likely words are in a region: of one language, or of several."""
    alphabets = _ALPHABETS[region]
    chances = [[own.likelihood(word) for word in words] for own in alphabets]
    one = max(
        sum(each) - own.rarity for own, each in zip(alphabets, chances, strict=True)
    )
    several: float = _CHANGE * len(words) + sum(
        max(chance - own.rarity for own, chance in zip(alphabets, each, strict=True))
        for each in zip(*chances, strict=True)
    )
    return max(one, several) + _STRANGE * sum(map(_n_misplaced, words))


def is_of_signs(words: Sequence[str]) -> bool:
    """Whether words have only signs beyond ASCII, all where signs stand."""
    return not any(_NO_SIGN.search(word) or _n_misplaced(word) for word in words)


def _n_misplaced(word: str) -> int:
    """How many signs and capitals stand where nobody writes them."""
    capitals = sum(
        second.isupper() and not second.isascii() and first.islower()
        for first, second in pairwise(word)
    )
    return capitals + len(_MISPLACED.findall(word))
