import { signal } from '@preact/signals'
import type { Me } from '@sandyard/dashboard-contract/session'
import { ApiFailure } from '../api/api-failure.ts'
import { call } from '../api/call.ts'

/** Undefined: not known yet. Null: nobody is logged in. */
export const me = signal<Me | null | undefined>(undefined)

export async function readSession(): Promise<void> {
  try {
    me.value = await call('GET /me')
  } catch (err) {
    if (err instanceof ApiFailure && err.status === 401) me.value = null
    else throw err
  }
}
