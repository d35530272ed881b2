"""Reads how to connect to a Kafka of one's own, and translates it for both clients.

``KAFKA_CONFIG`` names a file as Kafka's own tools take it by ``--command-config``. Each name in it
may be a variable, too: ``ssl.ca.location`` is ``KAFKA_SSL_CA_LOCATION``; the variable wins.
"""

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from workbook.errors import NotConfigured

FILE, SERVERS = "KAFKA_CONFIG", "KAFKA_BOOTSTRAP_SERVERS"
OAUTH, JAAS = "OAUTHBEARER", "sasl.jaas.config"
PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
MODULES = {
    "PLAIN": "plain.PlainLoginModule",
    "SCRAM-SHA-256": "scram.ScramLoginModule",
    "SCRAM-SHA-512": "scram.ScramLoginModule",
    OAUTH: "oauthbearer.OAuthBearerLoginModule",
}

CA, CERTIFICATE, KEY = "ssl.ca.pem", "ssl.certificate.pem", "ssl.key.pem"
HOST_CHECK = "ssl.endpoint.identification.algorithm"
USER, PASSWORD = "sasl.username", "sasl.password"
CLIENT, SECRET = "sasl.oauthbearer.client.id", "sasl.oauthbearer.client.secret"
SCOPE, TOKENS = "sasl.oauthbearer.scope", "sasl.oauthbearer.token.endpoint.url"

# fmt: off
TABLE = {
    "bootstrap.servers": ("bootstrap.servers",),
    "client.dns.lookup": ("client.dns.lookup",),
    "security.protocol": ("security.protocol",),
    "sasl.mechanism": ("sasl.mechanism", "sasl.mechanisms"),
    CA: ("ssl.truststore.certificates", "ssl.ca.location", "ssl.truststore.location"),
    CERTIFICATE: ("ssl.keystore.certificate.chain", "ssl.certificate.location",
                  "ssl.keystore.location"),
    KEY: ("ssl.keystore.key", "ssl.key.location"),
    HOST_CHECK: (HOST_CHECK,),
    TOKENS: (TOKENS,),
    CLIENT: ("", "sasl.oauthbearer.client.credentials.client.id"),  # Java: in its JAAS text
    SECRET: ("", "sasl.oauthbearer.client.credentials.client.secret"),
    **dict.fromkeys((USER, PASSWORD, SCOPE), ("",)),
    **dict.fromkeys(("ssl.key.password", "ssl.keystore.password", "ssl.truststore.password",
                     "ssl.keystore.type", "ssl.truststore.type", "sasl.oauthbearer.method",
                     "sasl.login.callback.handler.class"), ("",)),  # found out, or used up
    **dict.fromkeys(("acks", "client.id", "session.timeout.ms"), ("",)),  # in a cloud's own file
}
# fmt: on
"""librdkafka's name -> Java's, and other names of the same; a path and a PEM are one setting."""

TEXTS = (".pem", "store.certificates", ".chain", "store.key")  # a user names files instead
KNOWN = {n: to for to, also in TABLE.items() for n in (to, *also) if n and not n.endswith(TEXTS)}
IN_JAAS = {"username": USER, "password": PASSWORD, "clientId": CLIENT, "clientSecret": SECRET}
IN_JAAS |= {"scope": SCOPE}
HANDLER = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler"
PEM = re.compile(rb"-----BEGIN ([A-Z0-9 ]+)-----.+?-----END \1-----", re.DOTALL)


class Secret(str):
    """A text that no cell, log or traceback shows by accident: its ``repr`` is masked."""

    __slots__ = ()

    def __repr__(self) -> str:
        return repr(re.sub(r"//.*@", "//…@", str(self)) if "://" in self else "…")


def masked(settings: Mapping[str, str]) -> dict[str, str]:
    """Return settings whose passwords and keys aren't shown."""
    hidden = re.compile(r"password|secret|jaas|keystore\.key|key\.pem")
    return {n: Secret(value) if hidden.search(n) else value for n, value in settings.items()}


class Given(NamedTuple):
    """A setting's value, and its name as the user typed it."""

    value: str
    name: str


def given() -> dict[str, Given]:
    """Return what file and variables say, by librdkafka's names; raise ``NotConfigured``."""
    path, found, said = os.environ.get(FILE), dict[str, Given](), list[tuple[str, Given]]()
    if path:
        try:
            of_file = properties(Path(path).read_bytes())
        except OSError as error:
            _refuse(f"Expected a file in {FILE}, but {path} can't be read: {error.strerror}")
        said = [(n, Given(value, f"{n} in {path}")) for n, value in of_file.items()]
    for variable, value in os.environ.items():
        if value and re.match("KAFKA_(SECURITY|SASL|SSL)_", variable):
            said.append((variable[6:].lower().replace("_", "."), Given(value, variable)))
    if more := [(n, one.name) for n, one in said if n not in KNOWN and n != JAAS]:
        key = "a line that is no setting"  # it may be a key's
        shown = (name if re.fullmatch("[a-z.]{1,60}", n) else key for n, name in more)
        _refuse(
            "Expected only settings for the connection and the login, but got "
            f"{', '.join(dict.fromkeys(shown))}. Correct what is misspelt, and leave the rest "
            "out: docs/own-servers.md lists the names."
        )
    for name, one in said:
        if one.value or name == HOST_CHECK:  # an empty one is as if it weren't there
            found |= _named(name, one)
    if servers := os.environ.get(SERVERS):
        found["bootstrap.servers"] = Given(servers, SERVERS)
    return found


def typed(*names: str) -> str:
    """Return how the user names these settings: in the file, or by variables."""
    said, file = given(), os.environ.get(FILE)

    def one(name: str) -> str:
        if name in said:
            return said[name].name
        shown = TABLE[name][1] if name in (CA, CERTIFICATE, KEY) else name
        return f"{shown} in {file}" if file else f"KAFKA_{shown.upper().replace('.', '_')}"

    *before, last = (one(name) for name in names)
    before = [each.removesuffix("".join(last.partition(" in ")[1:])) for each in before]
    return f"{', '.join(before)} and {last}" if before else last


def _named(name: str, one: Given) -> dict[str, Given]:
    if name != JAAS:
        return {KNOWN[name]: one}
    pairs = re.findall(r"""(\w+)\s*=\s*(?:(["'])((?:\\.|.)*?)\2|([^\s;]+))""", one.value)
    options = {key: re.sub(r"\\(.)", r"\1", text) or bare for key, _, text, bare in pairs}
    return {to: Given(options[k], one.name) for k, to in IN_JAAS.items() if k in options}


def properties(raw: bytes) -> dict[str, str]:
    """Parse a file of Java's properties, in UTF-8 or, as Java writes them, Latin-1."""
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = raw.decode("latin-1")
    text, found = re.sub(r"(?m)^\s*[#!].*$", "", text), {}
    text = re.sub(r"(?<!\\)((?:\\\\)*)\\\r?\n[ \t\f]*", r"\1", text)  # a line that goes on
    for line in filter(None, map(str.lstrip, re.split(r"[\r\n]+", text))):
        parts = re.match(r"((?:\\.|[^\\=:\s])*)\s*[=:]?\s*(.*)", line)
        assert parts is not None
        found[_unescaped(parts[1])] = _unescaped(parts[2]).strip()  # as Kafka does
    return found


def _unescaped(text: str) -> str:
    special = {"n": "\n", "t": "\t", "r": "\r", "f": "\f"}

    def one(found: re.Match[str]) -> str:
        code = found[1]
        return chr(int(code[1:], 16)) if len(code) > 1 else special.get(code, code)

    found = re.sub(r"\\(u[0-9a-fA-F]{4}|.)", one, text)
    return found.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # joins pairs


# --- for librdkafka -----------------------------------------------------------------------------


def settings() -> dict[str, str]:
    """Return librdkafka's settings, certificates as PEM texts; {} where none names a broker.

    Raises ``NotConfigured`` with the name of what's missing or wrong.
    """
    if not (os.environ.get(FILE) or os.environ.get(SERVERS)):
        return {}
    said = given()
    if "bootstrap.servers" not in said:
        _refuse(f"No broker is named. Set {typed('bootstrap.servers')}, or {SERVERS}")
    protocol = said.get("security.protocol", Given("", "")).value.upper()
    if protocol and protocol not in PROTOCOLS:
        _choose(said["security.protocol"], PROTOCOLS)
    if not protocol and (more := said.keys() - {"bootstrap.servers", "client.dns.lookup"}):
        name = said[min(more)].name
        _refuse(f"{name} is set, but no protocol. Set {typed('security.protocol')} to one of "
                f"{', '.join(PROTOCOLS[1:])}")  # fmt: skip
    kept = ("bootstrap.servers", "client.dns.lookup")
    made = {name: said[name].value for name in kept if name in said}
    if protocol:
        made["security.protocol"] = protocol
    if protocol.startswith("SASL"):
        made |= _login(said)
    if protocol.endswith("SSL"):
        made |= _certificates(said)
    return made


def _login(said: Mapping[str, Given]) -> dict[str, str]:
    mechanism = said.get("sasl.mechanism", Given("", typed("sasl.mechanism")))
    made = {"sasl.mechanism": mechanism.value.upper()}
    if mechanism.value.upper() not in MODULES:
        _choose(mechanism, MODULES)
    needed = [USER, PASSWORD]
    if mechanism.value.upper() == OAUTH:
        needed = [CLIENT, SECRET, TOKENS]
        made["sasl.oauthbearer.method"] = "oidc"
    for name in needed:
        if not (name in said and said[name].value):
            _refuse(f"A login by {mechanism.value} needs {name}. Set {typed(name)}")
    return made | {name: said[name].value for name in (*needed, SCOPE) if name in said}


def _certificates(said: Mapping[str, Given]) -> dict[str, str]:
    made, none = {}, Given("", "")
    if HOST_CHECK in said:
        made[HOST_CHECK] = said[HOST_CHECK].value.lower() or "none"
        if made[HOST_CHECK] not in ("https", "none"):
            _choose(said[HOST_CHECK], ("https", "none"))
    store = said.get("ssl.keystore.password", none).value
    password = said.get("ssl.key.password", none).value or store
    if CA in said:
        _, trusted = _pems(said[CA], said.get("ssl.truststore.password", none).value)
        made[CA] = trusted or _refuse(f"{said[CA].name} has no certificate. Name a PEM file")
    if CERTIFICATE in said:
        key, made[CERTIFICATE] = _pems(said[CERTIFICATE], store or password, password)
        if KEY in said:
            key, _ = _pems(said[KEY], password)
        asked = said.get(KEY, said[CERTIFICATE]).name
        made[KEY] = key or _refuse(f"{asked} has no private key. Name a PEM file that has it")
    elif KEY in said:
        _refuse(f"{said[KEY].name} is set, but no certificate. Set {typed(CERTIFICATE)}")
    return made


def _pems(one: Given, store: str, password: str = "") -> tuple[str, str]:
    """Return the private key and the certificates of a PEM or PKCS12 file."""
    from cryptography import x509  # only here: it takes a fifth of a second
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.serialization import pkcs12

    if "-----BEGIN" in one.value:  # not shown: it may be a key
        _refuse(f"{one.name} is a text. Write it to a file, and name the file")
    try:
        raw = Path(one.value).read_bytes()
    except OSError as error:
        _refuse(f"{one.name} names {one.value}, which can't be read: {error.strerror}. Name a file")
    blocks = [(found[1], found[0]) for found in PEM.finditer(raw)]
    keys = [block for kind, block in blocks if kind.endswith(b"PRIVATE KEY")]
    try:
        if blocks:
            locked = any(b"ENCRYPTED" in block for block in keys)  # in its head
            word = (password or store).encode() if locked else None
            key: Any = serialization.load_pem_private_key(keys[0], word) if keys else None
            found = [x509.load_pem_x509_certificate(b) for k, b in blocks if k == b"CERTIFICATE"]
        else:
            held = pkcs12.load_pkcs12(raw, store.encode() or None)
            key = held.key
            found = [c.certificate for c in (held.cert, *held.additional_certs) if c]
    except (ValueError, TypeError):
        lacks = "" if store or password else ", which is not set"
        _refuse(f"{one.name} names no certificate or key that can be read: {one.value} isn't PEM "
                "or PKCS12, or its password is wrong. docs/own-servers.md shows how to convert "
                f"other files. Else check the password{lacks}")  # fmt: skip
    form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8  # Java reads no other
    private = key.private_bytes(*form, serialization.NoEncryption()).decode() if key else ""
    return private, "".join(c.public_bytes(form[0]).decode() for c in found)


# --- for Java -----------------------------------------------------------------------------------


def java(ours: Mapping[str, str]) -> dict[str, str]:
    """Translate librdkafka's settings for Java's client."""
    made = {java: value for n, value in ours.items() if (java := TABLE.get(n, ("",))[0])}
    if CA in ours:
        made["ssl.truststore.type"] = "PEM"
    if KEY in ours:
        made["ssl.keystore.type"] = "PEM"
    if made.get(HOST_CHECK) == "none":
        made[HOST_CHECK] = ""
    if module := MODULES.get(ours.get("sasl.mechanism", "")):
        options = {key: ours[name] for key, name in IN_JAAS.items() if name in ours}
        quoted = (f"{k}={json.dumps(v, ensure_ascii=False)}" for k, v in options.items())
        made[JAAS] = f"org.apache.kafka.common.security.{module} required {' '.join(quoted)};"
        if TOKENS in ours:
            made["sasl.login.callback.handler.class"] = HANDLER
    return made


def _choose(one: Given, known: Any) -> NoReturn:
    got = f"it is {one.value!r}" if one.value else "it isn't set"
    _refuse(
        f"Expected {', '.join(known)} for {one.name}, but {got}. Set it to one that your broker "
        "supports"
    )


def _refuse(text: str) -> NoReturn:
    raise NotConfigured(text if text.endswith(".") else f"{text}.")
