# surefoot as a command, for builds that have no Python of their own:
#   docker build -t surefoot .                                       the core
#   docker build -t surefoot --build-arg EXTRAS=learn,plots .        with extras
#   docker run --rm -v "$PWD:/data" surefoot gate qrels.txt today.run new.run --baseline today --policy policy.toml
ARG PYTHON=3.13

FROM python:${PYTHON}-slim AS build
WORKDIR /source
COPY pyproject.toml hatch_build.py README.md LICENSE CHANGELOG.md CITATION.cff ./
COPY src ./src
# hadolint ignore=DL3013
RUN pip install --no-cache-dir build \
    && python -I -m build --wheel --outdir /wheels .

FROM python:${PYTHON}-slim
ARG EXTRAS=""
# LightGBM and XGBoost need OpenMP, which slim images leave out. Debian's own version is meant.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends libgomp1 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 1000 surefoot
COPY --from=build /wheels /wheels
# hadolint ignore=DL3013
RUN wheel="$(echo /wheels/surefoot-*.whl)" \
    && pip install --no-cache-dir "${wheel}${EXTRAS:+[${EXTRAS}]}"
USER 1000
# What Numba compiles is kept where any user may write.
ENV NUMBA_CACHE_DIR=/tmp/numba
WORKDIR /data
ENTRYPOINT ["surefoot"]
CMD ["--help"]
