import type { JSONWebKeySet } from 'jose'
import type { Outbound } from '@sandyard/kit/outbound/outbound'
import { outboundRequest } from '@sandyard/kit/outbound/outbound-request'

/** The configuration or the keys of a provider cannot be read. */
class DiscoveryError extends Error {
  override readonly name = 'DiscoveryError'
}

/**
 * The keys that a provider publishes now (OpenID Connect Discovery 1.0, 4).
 *
 * @throws DiscoveryError for answers that are not as specified; the error of the connection; the abort reason
 */
export async function discoverKeys(outbound: Outbound, issuer: string, signal: AbortSignal): Promise<JSONWebKeySet> {
  const configuration = await getJson(outbound, `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`, signal)
  if (configuration['issuer'] !== issuer) throw new DiscoveryError('the configuration is that of another issuer')
  const { jwks_uri: uri } = configuration
  const url = typeof uri === 'string' ? URL.parse(uri) : null
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && issuer.startsWith('http:'))
  if (typeof uri !== 'string' || !isSafe) throw new DiscoveryError('the configuration has no usable jwks_uri')
  const found = await getJson(outbound, uri, signal)
  if (!Array.isArray(found['keys'])) throw new DiscoveryError('the answer has no list of keys')
  const keys = found['keys'].filter((key) => typeof key === 'object' && key !== null && typeof (key as { kty?: unknown }).kty === 'string')
  return { keys }
}

async function getJson(outbound: Outbound, url: string, signal: AbortSignal): Promise<Record<string, unknown>> {
  const headers = { accept: 'application/json' }
  const { status, text } = await outboundRequest(outbound, new URL(url), { method: 'GET', headers, body: '', signal })
  if (status !== 200) throw new DiscoveryError(`${url} answered ${status}`)
  const value = parse(text)
  if (typeof value !== 'object' || value === null) throw new DiscoveryError(`${url} answered no JSON object`)
  return value as Record<string, unknown>
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
