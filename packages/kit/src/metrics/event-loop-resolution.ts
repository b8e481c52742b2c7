/**
 * How often the delay of an event loop is measured. The measured times contain it. Each measurement wakes the process: with the usual 10 ms an idle
 * proxy spent more than half of its processor time on them.
 */
export const EVENT_LOOP_RESOLUTION_MS = 50
