# The demo model and its pipeline; scripts for developers
EXTRA_DIST += contrib/demo-model/README.md \
	contrib/demo-model/penstock-demo-q8_0.gguf \
	contrib/demo-model/penstock-demo-f16.gguf \
	contrib/demo-model/tiny-random-llama.gguf \
	contrib/demo-model/tiny-random-qwen2.gguf \
	contrib/demo-model/vectors.json contrib/demo-model/tok.json \
	contrib/demo-model/test.jsonl contrib/demo-model/checkpoint.npz \
	contrib/demo-model/chatml.py contrib/demo-model/eval.py \
	contrib/demo-model/export_gguf.py contrib/demo-model/gen_data.py \
	contrib/demo-model/make_vectors.py contrib/demo-model/refmodel.py \
	contrib/demo-model/test_template.py contrib/demo-model/train.py \
	contrib/demo-model/train_bpe.py
EXTRA_DIST += contrib/mkmodel contrib/mkmodel.d/main.mjs \
	contrib/mkmodel.d/gguf.mjs contrib/mkmodel.d/vocab.mjs \
	contrib/mkmodel.d/weights.mjs
