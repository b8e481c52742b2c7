import type { Drill } from './drill.ts'
import { EXHAUSTION_DRILLS } from './exhaustion.ts'
import { RUNTIME_DRILLS } from './runtime.ts'
import { UPLOAD_DRILLS } from './uploads.ts'

/** Drills that do not disturb each other. */
export const QUIET_DRILLS: readonly Drill[] = [...UPLOAD_DRILLS, ...RUNTIME_DRILLS]

/** Drills that take what others need, one after another. */
export const GREEDY_DRILLS: readonly Drill[] = EXHAUSTION_DRILLS
