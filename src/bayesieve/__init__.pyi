"""The public names and where they live; `__init__.py` imports them by this list."""

from . import baselines as baselines
from . import datasets as datasets
from . import exceptions as exceptions
from . import metrics as metrics
from .counts import ClassCounts as ClassCounts
from .feature_extraction import to_vectorizer as to_vectorizer
from .feature_selection import FDRScreener as FDRScreener
from .feature_selection import Interactions as Interactions
from .feature_selection import L0Screener as L0Screener
from .feature_selection import L1Screener as L1Screener
from .feature_selection import MixedScreener as MixedScreener
from .feature_selection import NaiveFeatureSelector as NaiveFeatureSelector
from .feature_selection import PearsonScreener as PearsonScreener
from .feature_selection import screen_interactions as screen_interactions
from .inspection import DiscountDisplay as DiscountDisplay
from .inspection import FeatureWeightsDisplay as FeatureWeightsDisplay
from .inspection import PartitionDisplay as PartitionDisplay
from .inspection import ReliabilityDisplay as ReliabilityDisplay
from .inspection import SparsityPathDisplay as SparsityPathDisplay
from .inspection import WeightHistoryDisplay as WeightHistoryDisplay
from .inspection import WeightPathDisplay as WeightPathDisplay
from .metrics import compression_rate as compression_rate
from .naive_bayes import AveragedNB as AveragedNB
from .naive_bayes import SelectiveBernoulliNB as SelectiveBernoulliNB
from .naive_bayes import SelectiveBernoulliNBCV as SelectiveBernoulliNBCV
from .naive_bayes import SelectiveMultinomialNB as SelectiveMultinomialNB
from .naive_bayes import SelectiveMultinomialNBCV as SelectiveMultinomialNBCV
from .naive_bayes import SelectiveNB as SelectiveNB
from .naive_bayes import SparseBernoulliNB as SparseBernoulliNB
from .naive_bayes import SparseBernoulliNBCV as SparseBernoulliNBCV
from .naive_bayes import SparseCategoricalNB as SparseCategoricalNB
from .naive_bayes import SparseGaussianNB as SparseGaussianNB
from .naive_bayes import SparseMultinomialNB as SparseMultinomialNB
from .naive_bayes import SparseMultinomialNBCV as SparseMultinomialNBCV
from .naive_bayes import SparseTextNB as SparseTextNB
from .persistence import load_model as load_model
from .persistence import save_model as save_model
from .preprocessing import MODLEncoder as MODLEncoder
from .solvers import Certificate as Certificate
from .solvers import Solution as Solution
from .solvers import SparsityPath as SparsityPath
from .solvers import solve_bernoulli as solve_bernoulli
from .solvers import solve_multinomial as solve_multinomial
from .solvers import sparsity_path as sparsity_path

__version__: str
