import { signal } from '@preact/signals'

/** Why a one-time link did not work; the login shows it. */
export const loginFailure = signal<string | undefined>(undefined)
