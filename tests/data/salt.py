"""Calls what Salt's modjk modules offer, as Salt would, against one status page, and prints one JSON value a call.

    python3 salt.py FOLDER URL

FOLDER is Salt's package folder, with modules/modjk.py and states/modjk.py as released.
"""

import importlib.util
import json
import sys

FOLDER, URL = sys.argv[1:]
SETTINGS = {"modjk:default:url": URL, "modjk:default:timeout": 10}


def load(kind, given):
    spec = importlib.util.spec_from_file_location(f"{kind}_modjk", f"{FOLDER}/{kind}/modjk.py")
    module = importlib.util.module_from_spec(spec)
    # Salt's loader puts these into every module.
    module.__dict__.update(given)
    spec.loader.exec_module(module)
    return module


execution = load("modules", {"__salt__": {"config.get": lambda key, default="": SETTINGS.get(key, default)}})
functions = {f"modjk.{name}": value for name, value in vars(execution).items() if callable(value)}
state = load("states", {"__salt__": functions, "__opts__": {"test": False}})


def say(name, call, *arguments):
    try:
        value = call(*arguments)
    except Exception as error:  # What Salt shows to its user.
        value = f"{type(error).__name__}: {error}"
    print(json.dumps([name, value], sort_keys=True), flush=True)


e = execution
say("virtual", state.__virtual__)
say("version", e.version)
say("get_running", e.get_running)
say("dump_config", e.dump_config)
say("list_configured_members", e.list_configured_members, "lb")
say("list_configured_members of nobody", e.list_configured_members, "nobody")
say("workers", e.workers)
say("worker_status", e.worker_status, "t1")
say("worker_status of nobody", e.worker_status, "nobody")
for action in ("disable", "stop", "activate", "recover"):
    say(f"worker_{action}", getattr(e, f"worker_{action}"), "t1", "lb")
    say(f"worker_{action}, seen", e.worker_status, "t1")
say("worker_disable of nobody", e.worker_disable, "nobody", "lb")
say("worker_disable in nothing", e.worker_disable, "t1", "nobody")
say("worker_edit", e.worker_edit, "t2", "lb", {"vwf": 5, "vwd": 2, "vwn": "t2", "vwc": "east"})
say("lb_edit", e.lb_edit, "lb", {"vlr": 1, "vlt": 90, "vls": 1, "vlm": 3})
say("after edits", e.get_running)
say("bulk_stop", e.bulk_stop, ["t1", "t2"], "lb")
say("bulk_stop, seen", e.workers)
say("bulk_disable", e.bulk_disable, "t1,t2", "lb")
say("bulk_activate", e.bulk_activate, ["t1", "nobody"], "lb")
say("bulk_recover", e.bulk_recover, ["t1", "t2"], "lb")
say("recover_all", e.recover_all, "lb")
say("recover_all of nobody", e.recover_all, "nobody")
say("reset_stats", e.reset_stats, "lb")
for name in ("worker_stopped", "worker_disabled", "worker_activated", "worker_recover"):
    say(f"state {name}", getattr(state, name), "lb", ["t1", "t2"])
    say(f"state {name}, seen", e.workers)
say("state of nobody", state.worker_stopped, "lb", ["t1", "nobody"])
say("at the end", e.get_running)
