#!/usr/bin/env bash
# Runs unbroken once for the build log, code scanning and the step summary; the result is judged by a later step, so that
# findings are uploaded before the job fails.
set -euo pipefail

command="${UNBROKEN_COMMAND:-lint}"
case "$command" in
  lint | audit) ;;
  *)
    echo "::error title=unbroken::there is no command ${command@Q}%0Ause lint or audit"
    exit 2
    ;;
esac
sarif="${RUNNER_TEMP:?}/unbroken.sarif"
arguments=("$command" --format "${UNBROKEN_FORMAT:-github}" --fail-on "${UNBROKEN_FAIL_ON:-deny}"
  --min-certainty "${UNBROKEN_MIN_CERTAINTY:-possible}" --output "sarif=$sarif")
if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
  arguments+=(--output "markdown=$GITHUB_STEP_SUMMARY")
fi
if [ -n "${UNBROKEN_SINCE:-}" ] && [ "$command" = lint ]; then
  arguments+=(--since "$UNBROKEN_SINCE")
fi
if [ -n "${UNBROKEN_BASELINE:-}" ]; then
  arguments+=(--baseline "$UNBROKEN_BASELINE")
fi
# One path a line, so that paths may hold blanks.
while IFS= read -r path; do
  if [ -n "$path" ]; then paths+=("$path"); fi
done <<<"${UNBROKEN_PATHS:-.}"

code=0
unbroken "${arguments[@]}" -- "${paths[@]}" || code=$?
echo "exit-code=$code" >>"${GITHUB_OUTPUT:?}"
# A run that was asked for wrongly leaves no report.
if [ -s "$sarif" ]; then echo "sarif=$sarif" >>"$GITHUB_OUTPUT"; fi
