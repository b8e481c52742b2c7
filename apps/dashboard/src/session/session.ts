import type { LoginBody } from '@sandyard/dashboard-contract/session'
import { ApiFailure } from '../api/api-failure.ts'
import { call } from '../api/call.ts'
import { me } from './me.ts'

export { me } from './me.ts'

/** @throws ApiFailure when the server cannot be asked */
export async function readSession(): Promise<void> {
  try {
    me.value = await call('GET /me')
  } catch (err) {
    if (err instanceof ApiFailure && err.status === 401) me.value = null
    else throw err
  }
}

/** @throws ApiFailure */
export async function logIn(body: LoginBody): Promise<void> {
  me.value = await call('POST /login', { body })
}

/** @throws ApiFailure */
export async function logOut(): Promise<void> {
  await call('POST /logout')
  me.value = null
}

/** Operators: everything of the page is of that team from now on. @throws ApiFailure */
export async function switchTeam(teamId: string): Promise<void> {
  me.value = await call('POST /me/team', { body: { teamId } })
}
