import type { IncomingMessage } from 'node:http'
import type { Sandbox } from 'e2b'
import { rawRequest, rawResponse, type RawAnswer, type RawRequest } from './raw-http.ts'
import { server } from './server.ts'

/** The port of the daemon in every sandbox. */
export const daemonPort = 49_983

/** The two headers that name a sandbox's port to the proxy when the host is an address or `localhost`. */
export function headerForm(sandbox: Pick<Sandbox, 'sandboxId'>, port: number): Record<string, string> {
  return { 'e2b-sandbox-id': sandbox.sandboxId, 'e2b-sandbox-port': String(port) }
}

/** The host name that names a sandbox's port to the proxy. */
export function hostForm(sandbox: Pick<Sandbox, 'getHost'>, port: number): Record<string, string> {
  return { host: sandbox.getHost(port) }
}

/** One request to the proxy, addressed by the headers `form`. */
export async function throughProxy(form: Record<string, string>, request: RawRequest): Promise<RawAnswer> {
  return rawRequest(server.sandboxUrl, addressed(form, request))
}

/** Like {@link throughProxy}, but the caller reads the body. */
export async function streamThroughProxy(form: Record<string, string>, request: RawRequest): Promise<IncomingMessage> {
  return rawResponse(server.sandboxUrl, addressed(form, request))
}

function addressed(form: Record<string, string>, request: RawRequest): RawRequest {
  return { ...request, headers: { ...form, ...request.headers } }
}
