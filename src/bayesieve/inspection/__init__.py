"""Displays and the report of fitted estimators; matplotlib is imported when drawing."""

from __future__ import annotations

from bayesieve.inspection._calibration import Calibration, calibration
from bayesieve.inspection._compare_models import (
    ComparedFeature,
    ComparedModel,
    ModelComparison,
    PredictionComparison,
    compare_models,
)
from bayesieve.inspection._discount_display import DiscountDisplay
from bayesieve.inspection._evaluation import Evaluation
from bayesieve.inspection._explain import explain
from bayesieve.inspection._explanation_display import ExplanationDisplay
from bayesieve.inspection._feature_weights_display import FeatureWeightsDisplay
from bayesieve.inspection._input_shift import ColumnShift, InputShift, input_shift
from bayesieve.inspection._pair_display import PairDisplay
from bayesieve.inspection._partition_display import PartitionDisplay
from bayesieve.inspection._reliability_display import ReliabilityDisplay
from bayesieve.inspection._report import report
from bayesieve.inspection._report_collect import collect_report
from bayesieve.inspection._report_data import ReportData
from bayesieve.inspection._report_html import render_report
from bayesieve.inspection._shape_display import ShapeDisplay
from bayesieve.inspection._sparsity_path_display import SparsityPathDisplay
from bayesieve.inspection._stability_display import StabilityDisplay
from bayesieve.inspection._summary import ModelSummary, summary
from bayesieve.inspection._weight_history_display import WeightHistoryDisplay
from bayesieve.inspection._weight_path_display import WeightPathDisplay

__all__ = [
    "Calibration",
    "ColumnShift",
    "ComparedFeature",
    "ComparedModel",
    "DiscountDisplay",
    "Evaluation",
    "ExplanationDisplay",
    "FeatureWeightsDisplay",
    "InputShift",
    "ModelComparison",
    "ModelSummary",
    "PairDisplay",
    "PartitionDisplay",
    "PredictionComparison",
    "ReliabilityDisplay",
    "ReportData",
    "ShapeDisplay",
    "SparsityPathDisplay",
    "StabilityDisplay",
    "WeightHistoryDisplay",
    "WeightPathDisplay",
    "calibration",
    "collect_report",
    "compare_models",
    "explain",
    "input_shift",
    "render_report",
    "report",
    "summary",
]
