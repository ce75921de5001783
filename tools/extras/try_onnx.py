"""The extra `onnx`: the trees of LightGBM's own model text become a graph, without LightGBM."""

from pathlib import Path

from surefoot.export.package import export_model, read_ensemble

text = Path("model.txt").read_text(encoding="utf-8")
count = int(text.partition("max_feature_idx=")[2].split()[0]) + 1
trees = read_ensemble("lightgbm", text, [f"feature_{i}" for i in range(count)])
export_model(trees, lambda rows: rows[:, 0], "model.onnx", to="onnx", missing="nan", rows=0)
print(f"a graph of {Path('model.onnx').stat().st_size / 1e3:.0f} kB written")
