import { ADMIN_TOKEN, type Answer, type Server } from './control-plane.ts'

type Method = Parameters<Server['call']>[0]

/** Calls with the token of an administrator. */
export function asAdmin(api: Server): (method: Method, url: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer> {
  return (method, url, body, headers = {}) =>
    api.call(method, url, { apiKey: null, headers: { 'x-admin-token': ADMIN_TOKEN, ...headers }, ...(body !== undefined && { body }) })
}
