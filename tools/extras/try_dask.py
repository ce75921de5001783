"""The extra `dask`: a careful ranker is learned on a cluster of two processes here."""

if __name__ == "__main__":  # workers import this file too
    import dask.array as da
    import numpy as np
    from dask.distributed import Client, LocalCluster

    import surefoot as sf

    data = sf.demo.letor(queries=60, documents=10, features=8)
    sizes = np.diff(data.offsets)
    qid = np.repeat(np.arange(len(sizes)), sizes)
    half = int(data.offsets[30])

    def parts(values: np.ndarray) -> da.Array:
        """The values in two parts, cut between two queries."""
        return da.from_array(values, chunks=((half, len(values) - half), *((n,) for n in values.shape[1:])))

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster):
        ranker = sf.Ranker("saro", 5, engine="xgboost", n_estimators=5, max_depth=3)
        ranker.fit(parts(data.X), parts(data.y), qid=parts(qid), baseline={"bm25": parts(data.baselines["bm25"])})
    assert len(ranker.predict(data)) == len(data.y)
    print("5 trees learned on a cluster of two processes")
