# ruff: noqa: E501
"""Every guard, how to take it out, and the tests that must then fail."""

from typing import NamedTuple


class Guard(NamedTuple):
    """A guard: the file under src/unmet, the text to replace once, and tests that notice."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


BAD = "mobility/sources/test_sources_bad_input.py"
FEEDS = "mobility/sources/test_sources_feeds.py"
LIMITS = "mobility/sources/test_sources_limits.py"
WEATHER = "mobility/sources/test_sources_weather.py"
LOCKED = "tables/test_tables_locked.py"
ATOMIC = "runs/test_runs_atomic.py"
DAMAGE = "runs/test_runs_model_damage.py"
STEPS = "runs/test_runs_steps.py"
SERVE = "serve/test_serve_guard.py"
CLIENTS = "serve/test_serve_connections.py"
RESULTS = "results/test_results_damage.py"
ESTIMATORS = "estimators/test_estimators_bad_input.py"
APP = "cli/test_app.py"
SWALLOWED = APP + "::test_a_signal_ends_the_program_in_one_line_whatever_becomes_of_its_exception"
PAGE = "report/test_report_page.py"

GUARDS = [
    # 1 to 7: inputs
    Guard("lines add up", "mobility/sources/_account.py",
          "if rejected != sum(file.rejected for file in self.files) or rows + self.left_out != accepted:",
          "if False:", (LIMITS,)),
    Guard("lines counted independently", "mobility/sources/_inserting.py",
          "return Inserted(done, rejects, left_out) if fits else None",
          "return Inserted(done, rejects, left_out)", (BAD, "mobility/sources/test_sources_fuzz.py")),
    Guard("reject share", "mobility/sources/_account.py",
          "if rejected > max_reject_share * total:", "if False:", (BAD + "::test_too_many_rejects_stop_with_reasons_and_leave_tables_alone",)),
    Guard("largest source", "mobility/sources/_packing.py", "if done > max_bytes:", "if False:", (BAD + "::test_a_source_beyond_the_cap_is_refused",)),
    Guard("compression ratio", "mobility/sources/_packing.py",
          "if done > _RATIO_FROM and done > _MAX_RATIO * max(packed, 1):", "if False:", (BAD + "::test_bombs_are_refused",)),
    Guard("members outside the archive", "mobility/sources/_files.py",
          'if ".." in parts or name.startswith(("/", "\\\\")) or name[1:2] == ":":', "if False:", (BAD + "::test_members_that_point_outside_are_refused",)),
    Guard("links in an archive", "mobility/sources/_files.py",
          "if stat.S_ISLNK(info.external_attr >> 16):", "if False:", (BAD + "::test_links_are_refused",)),
    Guard("numbers that are not finite", "mobility/sources/_json.py",
          "if not math.isfinite(number):", "if False:", (FEEDS + "::test_a_bad_station_is_rejected_and_the_rest_kept",)),
    Guard("negative counts", "mobility/sources/_json.py", "if number < 0:", "if False:", (FEEDS + "::test_a_bad_station_is_rejected_and_the_rest_kept",)),
    Guard("duplicate stations", "mobility/sources/_gbfs.py",
          'raise BadItem("station_id occurs twice in one snapshot")', "pass", (FEEDS + "::test_a_bad_station_is_rejected_and_the_rest_kept",)),
    Guard("milliseconds", "mobility/sources/_json.py",
          'if unit == "s" and 631152000000 <= number < 4102444800000:', "if False:", (FEEDS + "::test_a_bad_station_is_rejected_and_the_rest_kept",)),
    Guard("absurd depth", "mobility/sources/_json.py", "except RecursionError:", "except ZeroDivisionError:",
          (BAD + "::test_one_clear_line",)),
    Guard("NUL bytes", "mobility/sources/_repair.py", 'elif "\\0" in text:', "elif False:", (BAD + "::test_one_bad_line",)),
    Guard("very long lines", "mobility/sources/_repair.py", "if long:", "if False:", (BAD + "::test_one_bad_line",)),
    Guard("memory limit", "tables/_connection.py",
          'con.execute("SET memory_limit = ?", [memory_limit])', "pass",
          ("mobility/sources/test_sources_connection.py" + "::test_connection_has_a_limit_a_spill_folder_and_utc",)),
    Guard("spill folder", "tables/_connection.py",
          'con.execute("SET temp_directory = ?", [str(folder / "spill")])', "pass",
          (LOCKED + "::test_a_database_in_memory_spills_into_its_own_folder",)),
    # 18, 19: files and models
    Guard("bytes on disk before the rename", "runs/_atomic.py", "os.fsync(file.fileno())", "pass", (ATOMIC + "::test_bytes_and_name_are_on_disk_before_anyone_relies_on_them",)),
    Guard("name on disk", "runs/_atomic.py", "    sync_folder(target.parent)\n", "\n", (ATOMIC + "::test_bytes_and_name_are_on_disk_before_anyone_relies_on_them",)),
    Guard("temporary file removed", "runs/_atomic.py", "            os.unlink(temporary)\n",
          "            pass\n", (ATOMIC,)),
    Guard("checksum of weights", "runs/_model_folder.py",
          'if hashlib.sha256(data).hexdigest() != expected["sha256"]:', "if False:", (DAMAGE + "::test_a_flipped_byte_anywhere_is_refused",)),
    Guard("checksum of model.json", "runs/_model_folder.py", "if checksum != _checksum(document):",
          "if False:", (DAMAGE + "::test_a_flipped_byte_anywhere_is_refused",)),
    Guard("version of a model", "runs/_model_folder.py",
          'if type(document.get("version")) is not int or document["version"] != VERSION:', "if False:",
          (DAMAGE + "::test_descriptions_with_right_checksums_but_wrong_content",)),
    Guard("links in a model", "runs/_model_folder.py",
          '    if path.is_symlink():\n        raise ValueError("is a link: the files of a model must be plain files")\n'
          '    flags = os.O_RDONLY\n    for name in ("O_NOFOLLOW", ',
          '    flags = os.O_RDONLY\n    for name in (', (DAMAGE + "::test_model_json_may_not_be_a_link",)),
    Guard("pickles", "runs/_model_folder.py", "if folder.suffix.lower() in _PICKLES:", "if False:", (DAMAGE + "::test_pickles_are_refused",)),
    Guard("size of a header", "runs/_weights_file.py", "if length > min(MAX_HEADER_BYTES, size - 8):",
          "if False:", (DAMAGE + "::test_a_header_that_claims_to_be_huge",)),
    Guard("number of arrays", "runs/_weights_file.py", "if len(header) > MAX_TENSORS:", "if False:", (DAMAGE + "::test_weights_with_right_checksums_but_wrong_content",)),
    Guard("finite weights", "runs/_weights_file.py",
          'if array.dtype.kind == "f" and not np.isfinite(array).all():', "if False:", (DAMAGE + "::test_weights_with_right_checksums_but_wrong_content",)),
    Guard("duplicate keys", "runs/_strict_json.py", "if len(result) != len(pairs):", "if False:",
          ("runs/test_runs_strict_json.py",)),
    Guard("bytes of JSON", "runs/_strict_json.py", "if len(data) > max_bytes:", "if False:",
          ("runs/test_runs_strict_json.py",)),
    # 20, 21, 28, 32: long runs
    Guard("code change reruns a step", "runs/_steps.py", 'return {"code": self.code, "inputs"',
          'return {"code": "", "inputs"', (STEPS + "::test_changed_code_redoes_every_step",)),
    Guard("every file of the package counts", "runs/_checksum.py",
          'if path.is_file() and "__pycache__" not in path.parts)',
          'if path.is_file() and path.suffix == ".py")', ("runs/test_runs_checksum.py",)),
    Guard("damaged output is made again", "runs/_steps.py",
          'return known["outputs"] == {output: _checksum_or_none(self.folder / output) for output in outputs}',
          "return True", (STEPS + "::test_damaged_output_is_made_again",)),
    Guard("two at once", "runs/_lock.py", "fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)", "pass",
          ("runs/test_runs_lock.py",)),
    Guard("another run is refused", "runs/_steps.py",
          "elif not same_source(found.source, source):\n            if not self._replace:",
          "elif not same_source(found.source, source):\n            if False:", (STEPS + "::test_another_run_is_refused",)),
    Guard("a run is known by its content", "runs/_record.py", 'return value["sha256"]',
          'return value["name"]', (STEPS + "::test_a_run_is_known_by_the_content_of_its_inputs",)),
    Guard("built beside the old run", "runs/_steps.py",
          "            self._build_in(beside, source)\n            return\n        _replacement",
          "            _replacement.remove(self._home / n for n in ('a', 'b', 'sub'))\n"
          "            self._build_in(self._home, source)\n            return\n        _replacement",
          ("runs/test_runs_replacement.py",)),
    Guard("a killed change is completed", "runs/_steps.py", "            _replacement.complete(self._home)\n",
          "", ("runs/test_runs_replacement.py::test_whoever_works_in_the_folder_completes_a_killed_change_first",)),
    # 22 to 25, 29: the service and the page
    Guard("token beyond the loopback", "serve/_hosts.py", "if not is_loopback(address):\n            raise",
          "if False:\n            raise", (SERVE + "::test_another_address_without_a_token_is_refused",)),
    Guard("host names", "serve/_guards.py", "if not hosts.allows(host):", "if False:", (SERVE + "::test_a_foreign_host_is_refused_on_every_path",)),
    Guard("origins", "serve/_guards.py", "if origin is not None and not _same_origin(origin, host):",
          "if False:", (SERVE + "::test_pages_of_others_get_nothing",)),
    Guard("token of a request", "serve/_guards.py", "        app = require_token(app, token)\n",
          "        pass\n", (SERVE + "::test_a_token_is_asked_of_every_path",)),
    Guard("size of a body", "serve/_guards.py", "    app = limit_body(app, limits)\n", "", (SERVE + "::test_a_body_of_200_megabytes_is_refused_unread",)),
    Guard("time of an answer", "serve/_guards.py", "    app = limit_time(app, limits.seconds)\n", "", (SERVE + "::test_an_answer_that_takes_too_long_is_given_up",)),
    Guard("requests at once", "serve/_guards.py", "    app = limit_requests(app, limits.requests)\n", "",
          (SERVE + "::test_too_many_at_once_are_sent_away",)),
    Guard("security headers", "serve/_guards.py", '"headers": [*own, *HEADERS]', '"headers": own', (SERVE + "::test_every_reply_has_its_headers_and_none_opens_the_door_to_others",)),
    Guard("connection limit", "serve/_connections.py", "if len(self.connections) > CONNECTIONS:", "if False:",
          (CLIENTS + "::test_a_new_client_takes_the_place_of_the_one_that_waits_longest",)),
    Guard("time to read", "serve/_connections.py",
          "self._reading = self.loop.call_later(SEND_SECONDS, self.transport.abort)",
          "self._reading = self.loop.call_later(9999, self.transport.abort)", (CLIENTS + "::test_a_client_that_never_reads_is_cut_off",)),
    Guard("time to ask", "serve/_connections.py",
          "self._asking = self.loop.call_later(HEAD_SECONDS, self.transport.close)", "pass", (SERVE + "::test_a_head_that_never_ends_is_cut_off",)),
    Guard("answers in parts", "serve/_guards.py", "last = max(0, len(body) - 1) // CHUNK * CHUNK", "last = 0",
          (CLIENTS + "::test_answers_that_nobody_reads_leave_room_for_others",)),
    Guard("escaped templates", "report/_page.py", "autoescape=True,", "autoescape=False,", (PAGE + "::test_no_name_becomes_markup",)),
    Guard("JSON inside a script", "report/_script_json.py", "return text.translate(_UNSAFE)", "return text",
          (PAGE + "::test_no_name_becomes_markup",)),
    Guard("policy of the page", "report/_page.py", "f\"script-src {' '.join(_hash(text) for text in scripts)}\",",
          "\"script-src 'unsafe-inline'\",", (PAGE + "::test_the_policy_names_exactly_the_scripts_and_styles_of_the_page",)),
    # 24, 30: spreadsheets
    Guard("formulas in files of a run", "results/_write.py", "return spreadsheet_text(value)", "return value",
          ("results/test_results_run.py" + "::test_csv_cells_that_a_spreadsheet_would_run_are_neutralised",)),
    Guard("formulas in a panel", "tables/_spreadsheet.py", 'if kinds[name] != "VARCHAR":', "if True:",
          ("mobility/panel/test_panel_weather_names.py" + "::test_a_panel_in_csv_holds_nothing_that_a_spreadsheet_runs",)),
    Guard("formulas in the header of a panel", "tables/_spreadsheet.py",
          "AS {identifier(spreadsheet_text(name))}", "AS {identifier(name)}",
          ("mobility/panel/test_panel_weather_names.py" + "::test_a_panel_in_csv_holds_nothing_that_a_spreadsheet_runs",)),
    # 26, 27: SQL and paths
    Guard("quoted names", "tables/_sql.py", "'\"' + name.replace('\"', '\"\"') + '\"'", "'\"' + name + '\"'",
          (LOCKED,)),
    Guard("quoted texts", "tables/_sql.py", "text.replace(\"'\", \"''\")", "text", (LOCKED,)),
    Guard("literal paths", "tables/_sql.py", 'return _WILDCARDS.sub(r"[\\g<0>]", path)', "return path",
          (LOCKED,)),
    Guard("files of a database", "tables/_connection.py", 'con.execute("SET enable_external_access = false")',
          "pass", (LOCKED,)),
    Guard("locked settings", "tables/_connection.py", 'con.execute("SET lock_configuration = true")', "pass",
          (LOCKED,)),
    Guard("extensions", "tables/_connection.py", 'con.execute("SET allow_community_extensions = false")',
          "pass", (LOCKED,)),
    # 31: signals and temporary folders
    Guard("signals", "cli/_signals.py", "before[number] = signal.signal(number, stop)",
          "before[number] = signal.getsignal(number)", (APP + "::test_a_signal_is_told_in_one_line_with_its_exit_code",)),
    Guard("imports are completed", "cli/_signals.py", "if not again or not _importing(frame):", "if True:",
          (APP + "::test_an_import_is_completed_before_a_signal_ends_the_program",)),
    Guard("a swallowed signal comes again", "cli/_signals.py", "signal.signal(signal.SIGALRM, stop_again)",
          "signal.signal(signal.SIGALRM, lambda *_: None)", (SWALLOWED,)),
    Guard("nothing complains after a signal", "cli/_signals.py", "        _silence()\n", "", (SWALLOWED,)),
    Guard("a signal's consequences are not told", "cli/_errors.py", "None if stopping() else _words", "_words",
          (SWALLOWED,)),
    Guard("folders of the dead", "runs/_temporary.py", "        remove_abandoned(parent)\n", "",
          ("runs/test_runs_temporary.py",)),
    Guard("folders of the living", "runs/_temporary.py", "    with FolderLock(folder):\n        return True",
          "    return True", ("runs/test_runs_temporary.py",)),
    # 33: only regular files, by a schema
    Guard("regular files", "runs/_checksum.py", "if stat.S_ISREG(mode):", "if True:",
          ("runs/test_runs_checksum.py",)),
    Guard("regular tables of a run", "results/_read.py",
          '    if not path.is_file():\n        refuse(folder, file, "is not a regular file")\n    remedy',
          "    remedy", (RESULTS + "::test_only_regular_files_are_read",)),
    Guard("schema of columns", "results/_read.py", "    check_columns(path, file, columns, remedy)\n", "",
          (RESULTS + "::test_text_where_numbers_should_be_names_column_and_file",)),
    Guard("schema of JSON", "results/_read.py", '        _check_parts(folder, file, found, file.parts, "")\n',
          "        pass\n", (RESULTS + "::test_edited_parts_are_refused",)),
    Guard("size of JSON of a run", "results/_read.py", "if path.stat().st_size > _MOST_JSON_BYTES:",
          "if False:", (RESULTS + "::test_json_beyond_the_cap_is_refused",)),
    Guard("size of a feed", "mobility/sources/_json.py", "if path.stat().st_size > MAX_JSON:", "if False:",
          (LIMITS,)),
    Guard("schema of a demand model", "forecasting/_files.py", '        check_shape(config, _SHAPE, "model")\n', "",
          ("cli/test_cli_damage.py::test_a_model_that_was_edited_and_sealed_again",)),
    Guard("arrays of a demand model", "forecasting/_files.py", "        _check_arrays(config, arrays)\n", "",
          ("cli/test_cli_damage.py::test_a_model_that_was_edited_and_sealed_again",)),
    Guard("schema of an estimator", "estimators/_files.py",
          '    check_shape(inner, shape, "model")\n', "",
          ("cli/test_cli_damage.py::test_a_model_that_was_edited_and_sealed_again",)),
    Guard("text in a terminal", "cli/_errors.py", "printable(' '.join(words.splitlines()))", "words",
          ("cli/test_cli_terminal.py::test_a_header_in_an_error",)),
    Guard("workers that are killed", "cli/_errors.py", " and not _of_worker(problem)", "",
          ("cli/test_cli_signals.py::test_workers_that_are_killed_are_one_line",)),
    Guard("options from regular files", "runs/_checksum.py",
          'getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))', 'getattr(os, "O_CLOEXEC", 0))',
          ("runs/test_runs_checksum.py",)),
    # 34: weather
    Guard("reject share of weather", "mobility/sources/_weather.py",
          "    account.check(account.files[0].accepted, max_reject_share)\n", "", (WEATHER,)),
    Guard("unreadable values of weather", "mobility/sources/_weather.py",
          "if bad > max_reject_share * given:", "if False:", (WEATHER,)),
    Guard("reject share of status", "pipeline/_inputs.py",
          "columns=inputs.status_columns,\n                max_reject_share=inputs.max_reject_share,\n",
          "columns=inputs.status_columns,\n", ("cli/test_cli_rejects.py",)),
    # 35: estimators
    Guard("forked children fit", "training/_trainer.py", "    refuse_fork()\n", "",
          ("estimators/test_estimators_fork.py",)),
    Guard("forked children predict", "estimators/_fitted.py", "        refuse_fork()\n", "",
          ("estimators/test_estimators_fork.py",)),
    Guard("masked arrays", "censoring/_observe.py", "if isinstance(array, np.ma.MaskedArray):", "if False:",
          (ESTIMATORS + "::test_a_masked_array_is_refused",)),
    Guard("unused arguments", "estimators/_settings.py",
          '        check_number("hidden", size, 1, _MOST_UNITS, whole=True)\n', "        pass\n", (ESTIMATORS + "::test_a_bad_parameter_is_named",)),
    # 36: limits
    Guard("length of ids", "mobility/sources/_relation.py", "> {LONGEST_ID}\"", "> 1000000\"", (LIMITS,)),
    Guard("members of an archive", "mobility/sources/_files.py", "if len(infos) > MAX_MEMBERS:", "if False:",
          (LIMITS,)),
    Guard("counts of a feed", "mobility/sources/_json.py", "if number > most:", "if False:", (LIMITS,)),
    Guard("rows of a panel", "mobility/panel/_build.py", "if periods.count * places > _MOST_ROWS:",
          "if False:", (LIMITS,)),
    Guard("counts of a run", "results/_read.py", "if large.any():", "if False:", ("cli/test_cli_damage.py" + "::test_a_panel_with_wrong_columns",)),
]  # fmt: skip
