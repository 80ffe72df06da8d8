# SPDX-License-Identifier: Apache-2.0
"""Where the kill matrix kills: every failpoint in the sources of tuner/, and what each needs to be reached.

An entry is NAME, or NAME:COUNT for the COUNT-th time that a process passes it, or NAME:COUNT@AFTER for the COUNT-th time
after it first passed AFTER: how often drift is timed before a final depends on the time.
"""

# What a run meets, by the name of its scenario (kill_test.py).
PARENT = {
    # A new database; everything is compiled already.
    "new": (
        "worker.device_started", "worker.device_ready",
        "store.file_created", "store.schema_locked", "store.schema_ready", "store.schema_committed",
        "store.run_ready", "store.run_committed", "session.began",
        "worker.compile_submitted:2", "worker.compile_taken:3", "worker.compile_ended:3",
        "store.card_ready", "store.card_committed",
        "store.attempt_ready", "store.attempt_committed",
        "worker.asked", "worker.asked:9", "worker.step_heard:20", "worker.answer_heard", "session.trial_judged",
        "session.trial_judged:3",
        "store.trial_interned", "store.trial_inserted:2", "store.attempt_closed:2", "store.trial_ready",
        "store.trial_ready:3", "store.trial_committed", "store.trial_committed:2", "store.trial_committed:3",
        "session.trial_acknowledged", "session.trial_acknowledged:2", "session.trial_acknowledged:3",
        "session.drift_timed", "store.drift_ready", "store.drift_committed",
        "session.searched", "session.contenders_added", "session.round", "session.round:5",
        "session.final_ended", "store.finalist_inserted", "store.finalist_inserted:3", "store.best_inserted",
        "store.final_ready", "store.final_committed", "session.final_acknowledged",
        "store.run_updated", "store.run_end_ready", "store.run_ended", "session.ended",
    ),
    # Two candidates are yet to be compiled, and one does not compile.
    "compile": (
        "backend.unit_written:2", "backend.compiler_ended:2", "backend.image_read",
        "backend.cache_opened", "backend.cache_written", "backend.cache_renamed", "backend.cache_renamed:2",
        "worker.compile_ended:2", "session.trial_judged:4",
    ),
    # The cache holds more than it may.
    "full cache": ("backend.cache_evicted",),
    # One candidate crashes whoever runs it.
    "crash": ("store.strike_ready", "store.strike_committed", "session.trial_acknowledged:3"),
    # A run was killed before.
    "killed before": ("store.dead_struck", "store.dead_ended", "store.trial_committed", "session.round"),
    # The database is of schema 1.
    "old": ("store.schema_locked", "store.schema_ready", "store.schema_committed"),
}

# What a kill of the process that drives the device costs: the candidate whose kernel had run, or the
# contender of the final that was being added or timed; nothing when there was none, and not even a
# respawn of the run when it had not begun. A run whose device does not open ends before it has begun anything.
WORKER = {
    "the run": ("worker.device_opened",),
    "nothing before the run": ("worker.request_taken", "worker.request_served"),
    "nothing": (
        "worker.request_taken:2", "worker.request_taken:3", "worker.request_served:2", "worker.loading", "worker.loaded",
        "verify.instance_made", "verify.poisoned", "worker.contenders_cleared", "worker.contenders_cleared:2",
        "worker.library_tuned", "worker.library_added", "worker.library_added:2",
        # Of the library beside the best so far, for the progress line, and of the library in the final.
        "worker.contender_added", "worker.contender_timed:3", "worker.contender_timed:5@worker.library_tuned",
    ),
    "a candidate": (
        "verify.poisoned:2", "verify.launched", "verify.launched:4", "verify.compared", "verify.outputs_kept",
        "worker.verified", "measure.warmed_up", "measure.sampled", "measure.sampled:2", "measure.timed_series", "measure.timed_hot",
        "worker.timed", "worker.judged", "worker.judged:2", "worker.request_served:3",
    ),
    "a contender": ("worker.contender_added:1@worker.library_tuned", "worker.contender_added:2@worker.library_tuned",
                    "worker.contender_timed:6@worker.library_tuned"),
}
