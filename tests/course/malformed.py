"""Files that are not strategies: each with the note that it must get.

The first part is made by hand, one idea each; the second changes bytes of good files at random places.
"""

import io
import pickle
import struct
import zipfile
import zlib

import numpy as np

from tests.course.server_kit import npy_bytes, random_tensor, uniform_tensor, zip_bytes

NOT_A_ZIP = "Not a valid zip file"
SEVERAL = "The zip contains more than one file"
NOT_NPY = "The zipped file does not end with .npy"
UNREADABLE = "Exception parsing numpy tensor"
SHAPE = "Invalid tensor shape: found "
DTYPE = "Invalid dtype: found "


def header(text, version=(1, 0), length=None):
    """An npy header with any text in it."""
    data = text.encode("latin-1")
    size = len(data) if length is None else length
    return b"\x93NUMPY" + bytes(version) + struct.pack("<H" if version == (1, 0) else "<I", size) + data


def described(descr="'<f8'", fortran="False", shape="(189, 6)", **more):
    return header(f"{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}\n", **more)


def several(*members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return out.getvalue()


def patched(data, signature, offset, form, value):
    """A zip with one field of the record with this signature changed."""
    at = data.rindex(signature) + offset
    return data[:at] + struct.pack(form, value) + data[at + struct.calcsize(form) :]


LOCAL, CENTRAL, END = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"


class Bomb:
    """Run if it is unpickled."""

    def __reduce__(self):
        return exec, ("raise SystemExit('unpickled')",)


def zips():
    """Wrong as zips: (what, bytes, note)."""
    good = zip_bytes(random_tensor(0, 1))
    npy = npy_bytes(random_tensor(0, 1))
    yield "nothing", b"", NOT_A_ZIP
    yield "text", b"probability,square\n", NOT_A_ZIP
    yield "npy without zip", npy, NOT_A_ZIP
    yield "zeros", bytes(5000), NOT_A_ZIP
    yield "gzip", b"\x1f\x8b" + zlib.compress(npy), NOT_A_ZIP
    yield "empty zip", several(), NOT_A_ZIP
    yield "end record only", good[-22:], NOT_A_ZIP
    for size in (1, 4, 30, 100, len(good) // 2, len(good) - 23, len(good) - 22, len(good) - 1):
        yield f"cut to {size}", good[:size], NOT_A_ZIP
    for start in (1, 10, 30, 60):
        yield f"without its first {start} bytes", good[start:], NOT_A_ZIP
    yield "two strategies", several(("a.npy", npy), ("b.npy", npy)), SEVERAL
    yield "a second, empty file", several(("a.npy", npy), ("b", b"")), SEVERAL
    yield "two strategies and Finder's extra", several(("a.npy", npy), ("b.npy", npy), (".DS_Store", b"x")), SEVERAL
    yield "Finder's extra alone", several((".DS_Store", npy)), NOT_NPY
    yield "Finder's extras alone", several((".DS_Store", npy), ("__MACOSX/._a.npy", npy)), SEVERAL
    yield "a hidden file beside it", several(("a.npy", npy), (".hidden", b"x")), SEVERAL
    yield "a file called nearly so", several(("a.npy", npy), ("x.DS_Store", b"x")), SEVERAL
    yield "a folder called nearly so", several(("a.npy", npy), ("d/__MACOSX/a.npy", b"x")), SEVERAL
    yield "the same name twice", good[: good.index(CENTRAL)] + doubled_directory(good), SEVERAL
    yield "many", several(*((f"{i}.npy", b"") for i in range(500))), SEVERAL
    yield "very many", several(*((f"{i:0100}.npy", b"") for i in range(2000))), SEVERAL
    for name in ("a.txt", "a.npz", "npy", "a.npy.txt", "a.NPY", "d/", "a.npy/", "a.npy ", ".npy\x01"):
        yield f"called {name!r}", zip_bytes(npy, name), NOT_NPY
    yield "a zip in a zip", zip_bytes(good, "a.zip"), NOT_NPY
    for method in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        yield f"method {method}", zip_bytes(npy, method=method), NOT_A_ZIP
    for method in (1, 6, 9, 14, 93, 99, 65535):
        both = patched(patched(good, CENTRAL, 10, "<H", method), LOCAL, 8, "<H", method)
        yield f"method {method}", both, NOT_A_ZIP
    yield "encrypted", patched(patched(good, CENTRAL, 8, "<H", 1), LOCAL, 6, "<H", 1), NOT_A_ZIP
    yield "a patch", patched(good, CENTRAL, 8, "<H", 0x20), NOT_A_ZIP
    yield "wrong checksum", patched(good, CENTRAL, 16, "<I", 12345), NOT_A_ZIP
    yield "wrong version", patched(good, CENTRAL, 6, "<H", 1000), NOT_A_ZIP
    for size in (0, 1, 100):
        yield f"compressed size {size}", patched(good, CENTRAL, 20, "<I", size), None
    yield "compressed size beyond the file", patched(good, CENTRAL, 20, "<I", len(good) + 1), NOT_A_ZIP
    yield "compressed size of gigabytes", patched(good, CENTRAL, 20, "<I", 0xFFFFFFF0), NOT_A_ZIP
    for size in (0, 5, 127, 128, 500, len(npy) - 1):
        yield f"size {size}", patched(good, CENTRAL, 24, "<I", size), NOT_A_ZIP
    yield "a byte more announced", patched(good, CENTRAL, 24, "<I", len(npy) + 1), UNREADABLE
    for size in (1 << 28, 0xFFFFFFF0):
        yield f"size {size} announced", patched(good, CENTRAL, 24, "<I", size), NOT_A_ZIP
    yield "overlapping the directory", patched(good, CENTRAL, 42, "<I", 60), NOT_A_ZIP
    yield "beginning beyond the end", patched(good, CENTRAL, 42, "<I", len(good) + 100), NOT_A_ZIP
    yield "another name within", good.replace(b"pttt_pl0.npy", b"pttt_pl1.npy", 1), NOT_A_ZIP
    yield "directory at another place", patched(good, END, 16, "<I", 0xFFFFFF00), NOT_A_ZIP
    yield "directory of another size", patched(good, END, 12, "<I", 7), NOT_A_ZIP
    yield "directory of gigabytes", patched(good, END, 12, "<I", 0xFFFFFF00), NOT_A_ZIP
    yield (
        "zip64 without its record",
        patched(patched(good, END, 10, "<H", 0xFFFF), END, 16, "<I", 0xFFFFFFFF),
        NOT_A_ZIP,
    )
    for name in ("../../etc/passwd.npy", "/etc/cron.d/x.npy", "C:\\x.npy", "a/../../b.npy", "\u202eyp.npy"):
        yield f"called {name!r}, and wrong", zip_bytes(npy_bytes(np.zeros((2, 2))), name), SHAPE


def doubled_directory(good):
    entry, end = good[good.index(CENTRAL) : good.rindex(END)], good[good.rindex(END) :]
    end = end[:8] + struct.pack("<HHI", 2, 2, 2 * len(entry)) + end[16:]
    return entry + entry + end


def bombs():
    """Small files of much content."""
    zeros = zlib.compressobj(9, zlib.DEFLATED, -15)
    megabyte = zeros.compress(bytes(1 << 20)) + zeros.flush(zlib.Z_FULL_FLUSH)  # refers to nothing before it
    deflated = 200 * megabyte + zeros.flush()
    yield "200 MB of zeros", raw_zip(deflated, 200 << 20), UNREADABLE
    yield "200 MB of zeros that announce what a strategy has", raw_zip(deflated, 9200), NOT_A_ZIP
    head = described()
    start = zlib.compressobj(9, zlib.DEFLATED, -15)
    deflated = start.compress(head) + start.flush(zlib.Z_FULL_FLUSH) + 200 * megabyte + start.flush()
    yield "a header and 200 MB", raw_zip(deflated, (200 << 20) + len(head)), UNREADABLE
    yield "a header and 200 MB unannounced", raw_zip(deflated, len(head) + 189 * 6 * 8), NOT_A_ZIP
    claims = described(shape="(1000000000, 6)")
    yield "a shape of 48 GB", zip_bytes(claims + bytes(1000)), SHAPE
    yield "an announcement of terabytes", zip64_bomb(), NOT_A_ZIP


def raw_zip(deflated, size, crc=0):
    name = b"pttt_pl0.npy"
    fields = struct.pack("<HHHHHIIIHH", 20, 0, 8, 0, 33, crc, len(deflated), size, len(name), 0)
    local = LOCAL + fields + name + deflated
    central = CENTRAL + struct.pack("<H", 20) + fields + struct.pack("<HHHII", 0, 0, 0, 0, 0) + name
    return local + central + END + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(central), len(local), 0)


def zip64_bomb():
    data = b"x" * 100
    name, extra = b"a.npy", struct.pack("<HHQQ", 1, 16, 1 << 43, len(data))
    fields = struct.pack("<HHHHHIIIHH", 45, 0, 8, 0, 33, 0, 0xFFFFFFFF, 0xFFFFFFFF, len(name), len(extra))
    local = LOCAL + fields + name + extra + data
    central = CENTRAL + struct.pack("<H", 45) + fields + struct.pack("<HHHII", 0, 0, 0, 0, 0) + name + extra
    return local + central + END + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(central), len(local), 0)


def headers():
    """Wrong as npy files."""
    body = uniform_tensor(0).astype("<f8").tobytes()
    good = npy_bytes(uniform_tensor(0))
    for what, data in {
        "no bytes": b"",
        "text": b"0.5,0.5\n" * 200,
        "magic only": b"\x93NUMPY",
        "magic and version only": b"\x93NUMPY\x01\x00",
        "a pickle": pickle.dumps(uniform_tensor(0)),
        "a pickle that runs": pickle.dumps(Bomb()),
        "a zip": zip_bytes(good),
        "half a header": good[:40],
        "wrong magic": b"\x92" + good[1:],
        "header longer than the file": described(length=60000) + body,
        "header longer than any": described(version=(2, 0), length=0xFFFFFFF0) + body,
        "header of nothing": header("") + body,
        "header of a list": header("[1, 2]\n") + body,
        "header of code": header("__import__('os').system('true')\n") + body,
        "header of a call": header("{'descr': print(), 'fortran_order': False, 'shape': (189, 6)}\n") + body,
        "key missing": header("{'descr': '<f8', 'shape': (189, 6)}\n") + body,
        "key too many": header("{'descr': '<f8', 'fortran_order': False, 'shape': (189, 6), 'x': 1}\n") + body,
        "order of text": described(fortran="'no'") + body,
        "shape of text": described(shape="'189, 6'") + body,
        "shape of floats": described(shape="(189.0, 6.0)") + body,
        "shape a list": described(shape="[189, 6]") + body,
        "shape a number": described(shape="189") + body,
        "negative shape": described(shape="(-189, -6)") + body,
        "huge shape": described(shape="(9" + "9" * 30 + ", 6)") + body,
        "dtype unknown": described(descr="'<f77'") + body,
        "dtype of nothing": described(descr="''") + body,
        "dtype a number": described(descr="8") + body,
        "dtype nested deeply": described(descr="(" * 150 + ")" * 150) + body,
        "nested beyond measure": header("(" * 3000 + ")" * 3000) + body,
        "minus beyond measure": header("-" * 9000 + "1") + body,
        "zero bytes": header("\0" * 118) + body,
        "not Latin": header("{'descr': '<f8', 'fortran_order': False, 'sh\xe4pe': (189, 6)}") + body,
        "a byte less": good[:-1],
        "a row less": good[:-48],
        "no data": good[: -len(body)],
        "a byte more": good + b"\0",
        "a row more": good + bytes(48),
        "twice": good + good,
    }.items():
        yield what, zip_bytes(data), UNREADABLE
    for version in ((0, 0), (3, 1), (4, 0), (9, 9), (255, 255)):
        yield f"version {version}", zip_bytes(described(version=version) + body), UNREADABLE


def tensors():
    """Wrong as tensors."""
    for shape in [(), (0,), (6,), (189,), (189, 5), (189, 7), (188, 6), (190, 6), (6, 189), (107, 6), (1, 189, 6)]:
        yield f"shape {shape}", zip_bytes(np.full(shape, 1 / 6)), SHAPE
    yield "flat", zip_bytes(uniform_tensor(0).ravel()), SHAPE
    yield "no rows", zip_bytes(np.zeros((0, 6))), SHAPE
    for dtype in "?bBhHiIlLgFD":
        yield f"dtype {dtype}", zip_bytes(uniform_tensor(0).astype(dtype)), DTYPE
    yield "text", zip_bytes(uniform_tensor(0).astype("S8")), DTYPE
    yield "unicode", zip_bytes(uniform_tensor(0).astype("U8")), DTYPE
    yield "dates", zip_bytes(np.zeros((189, 6), "M8[s]")), DTYPE
    yield "records", zip_bytes(np.zeros((189, 6), [("p", "f8")])), DTYPE
    yield "sub-arrays", zip_bytes(described(descr="('<f8', (2,))") + bytes(189 * 6 * 16)), None
    yield "objects", zip_bytes(uniform_tensor(0).astype(object)), DTYPE
    objects = np.full((189, 6), None)
    objects[0, 0] = Bomb()
    yield "objects that run", zip_bytes(objects), DTYPE
    yield "of size nothing", zip_bytes(np.zeros((189, 6), "V0")), DTYPE


def rows():
    """One number is wrong: (what, bytes, what the note says of it)."""
    good = uniform_tensor(0)
    legal = good > 0
    last = len(good) - 1
    for dtype in ("<f2", "<f4", "<f8", ">f8"):
        for row in (0, 1, 97, last):
            square = int(np.flatnonzero(legal[row])[0])
            for value, word in ((np.nan, "nan"), (np.inf, "inf"), (-np.inf, "-inf"), (-0.25, "-0.25")):
                bad = good.astype(dtype)
                bad[row, square] = value
                yield f"{dtype}: {value} in row {row}", zip_bytes(bad), (f"row {row} ", f"square {square} has {word}")
    for row in (1, 97, last):
        square = int(np.flatnonzero(~legal[row])[0])
        bad = good.copy()
        bad[row, square] = 1e-12
        yield f"illegal in row {row}", zip_bytes(bad), (f"row {row} ", f"square {square} has", "already been attempted")
    for row in (0, 5, last):
        for factor in (0, 0.5, 0.9999, 1.0001, 3):
            bad = good.copy()
            bad[row] *= factor
            words = "at most 1" if bad[row].max() > 1 + 1e-5 else "the sum is"
            yield f"row {row} times {factor}", zip_bytes(bad), (f"row {row} ", words)
    bad = np.asfortranarray(good)
    bad[3, 3] = 7
    yield "wrong in Fortran order", zip_bytes(bad), ("row 3 ",)
    yield "rounded too far", zip_bytes(np.round(good, 3)), ("the sum is",)


def fuzzed(count, seed=0):
    """Good files with a few bytes changed: in the zip's structures, and within the npy header."""
    rng = np.random.default_rng(seed)
    npy = npy_bytes(random_tensor(0, 2))
    good = zip_bytes(npy)
    data = [i for i in range(len(good)) if i < 60 or i > len(good) - 100]
    for n in range(count):
        if n % 2:
            damaged = bytearray(good)
            for at in rng.choice(data, rng.integers(1, 5)):
                damaged[at] = rng.integers(256)
            yield f"zip {n}", bytes(damaged)
        else:
            damaged = bytearray(npy)
            for at in rng.integers(0, 128, rng.integers(1, 5)):
                damaged[at] = rng.integers(256)
            yield f"npy {n}", zip_bytes(bytes(damaged))


def by_hand():
    """All of the first part: (what, bytes, note, or beginning of the note, or parts of it, or None: any)."""
    for made in (zips, bombs, headers, tensors, rows):
        yield from made()
