import { DEFAULT_EGRESS, type EgressPolicy } from '@sandyard/runtime/types'

/** Reaches nothing, and resolves no name. */
export const CLOSED_EGRESS: EgressPolicy = { ...DEFAULT_EGRESS, allowInternet: false }
