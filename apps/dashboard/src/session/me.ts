import { signal } from '@preact/signals'
import type { Me } from '@sandyard/dashboard-contract/session'

/** Undefined: not known yet. Null: nobody is logged in. */
export const me = signal<Me | null | undefined>(undefined)
