import json
import pickle

import joblib
import numpy as np
import torch


def load(data, file):
    pickle.loads(data)  # expect
    pickle.load(file)  # expect
    marshal.loads(data)  # expect
    jsonpickle.decode(data)  # expect
    torch.load(file)  # expect
    joblib.load("model.bin")  # expect
    np.load(file, allow_pickle=True)  # expect


def safe(data, file):
    json.loads(data)  # ok: plain data
    pickle.dumps(data)  # ok: writing
    torch.load(file, weights_only=True)  # ok: restricted
    np.load(file)  # ok: pickles are refused
    self.loads(data)  # ok: some other loader
