"""Programs as bundles."""

import numpy as np
import pytest

import baton as baton_package
from chain_program import want


def test_signed_bundles(baton, program, tmp_path):
    path, key, public = (str(tmp_path / name) for name in ("p.baton", "key.pem", "pub.pem"))
    pem = "-----BEGIN {0} KEY-----\n{1}\n-----END {0} KEY-----\n"
    (tmp_path / "key.pem").write_text(pem.format(
        "PRIVATE", "MC4CAQAwBQYDK2VwBCIEIEzNCJso/5banbbDRuwRTg9bijGfNaumJNqM9u1PuKb7"))
    (tmp_path / "pub.pem").write_text(pem.format(
        "PUBLIC", "MCowBQYDK2VwAyEAPUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw="))
    baton_package.bundle(program, path, archs=["sm_90a"])
    assert baton_package.load(path).signed_by is None
    for unsigned in (path, (tmp_path / "p.baton").read_bytes()):
        with pytest.raises(baton_package.Error, match="is not signed"):
            baton_package.load(unsigned, keys=[public])
    assert baton_package.sign(path, key) == "deb2ded39dc26fce"
    assert baton_package.load(path, keys=[public], verify="once").signed_by == "deb2ded39dc26fce"
    baton_package.bundle(program, path, archs=["sm_90a"], key=key)
    assert baton_package.Program(path, keys=[public], verify="all").kernels
    with pytest.raises(baton_package.Error, match="verify is \"never\""):
        baton_package.Program(path, verify="never")
    with pytest.raises(baton_package.Error, match="has no signature"):
        baton_package.load(b".version 8.0", keys=[public])


def test_bundles(baton, program, tmp_path):
    path = tmp_path / "chain.baton"
    assert baton_package.bundle(program, path, archs=["sm_90a"], sources=False) == ()
    opened = baton_package.load(path, device=baton.target)
    assert opened.kernels == ("add", "step") and opened.architectures == ("sm_90a",)
    out = np.zeros(4, np.float32)
    opened["add"][1, 4](out, np.ones(4, np.float32), np.ones(4, np.float32), 4)
    assert (out == 2).all()
    bound = baton_package.Program(path).bind(N=8, device=baton.target)
    assert np.allclose(bound(x=np.ones(8, np.float32))["y"], want(np.ones(8)))


def test_bundles_as_bytes(baton, program, tmp_path):
    path = tmp_path / "chain.baton"
    baton_package.bundle(program, path, archs=["sm_90a"], sources=False)
    contents = path.read_bytes()
    opened = baton_package.load(contents, device=baton.target, name="embedded")
    assert opened.kernels == ("add", "step") and "embedded" in repr(opened)
    out = np.zeros(4, np.float32)
    opened["add"][1, 4](out, np.ones(4, np.float32), np.ones(4, np.float32), 4)
    assert (out == 2).all()
    for size in (35, 4096, len(contents) - 1):
        for cut in (contents[:size], tmp_path / "cut.baton"):
            (tmp_path / "cut.baton").write_bytes(contents[:size])
            with pytest.raises(baton_package.Error, match="truncated; copy it again|is truncated: .* a bundle"):
                baton_package.load(cut, device=baton.target)
