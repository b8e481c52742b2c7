import { lookup as lookUpAddresses } from 'node:dns/promises'
import ipaddr from 'ipaddr.js'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { ImageReference } from '../image-reference.ts'
import { registryClosed, registryLocal, registryUnreachable } from './registry-errors.ts'

type LookUp = (hostname: string) => Promise<readonly { readonly address: string }[]>

const PUBLIC_REGISTRY = 'docker.io'
const EVERY_PUBLIC_ONE = '*'
const LOOK_UP_TIMEOUT_MS = 10_000

/** The ranges without public registries. The ranges of IPv6 that embed an IPv4 address can lead to any of them. */
const LOCAL_RANGES: ReadonlySet<string> = new Set([
  'unspecified',
  'broadcast',
  'multicast',
  'loopback',
  'linkLocal',
  'private',
  'uniqueLocal',
  'carrierGradeNat',
  'rfc6145',
  'rfc6052',
  '6to4',
  'teredo',
])

/**
 * The registries that the engine may use. The engine connects from the host, so addresses of the host and its networks are refused unless
 * the operator lists them. A name that changes its address between this lookup and that of the engine is not detected.
 */
export class AllowedRegistries {
  readonly #listed: ReadonlySet<string>
  readonly #lookUp: LookUp

  /** @param listed - registries as in references; without a port: every port; `*`: all public ones, which is also the default when empty */
  constructor(listed: readonly string[], lookUp: LookUp = (hostname) => lookUpAddresses(hostname, { all: true })) {
    this.#listed = new Set(listed.length === 0 ? [EVERY_PUBLIC_ONE] : listed)
    this.#lookUp = lookUp
  }

  /** @throws AppError `permission_denied` for a registry that is not allowed, `unavailable` for a name without an address; the abort reason */
  async check({ text, registry }: Pick<ImageReference, 'text' | 'registry'>, signal?: AbortSignal): Promise<void> {
    const hostname = registry.replace(/:\d+$/, '')
    if (this.#listed.has(registry) || this.#listed.has(hostname)) return
    if (!this.#listed.has(EVERY_PUBLIC_ONE)) throw registryClosed(text)
    if (registry === PUBLIC_REGISTRY) return
    const addresses = await this.#addressesOf(hostname, signal).catch((err: unknown) => {
      signal?.throwIfAborted()
      throw registryUnreachable(text, err)
    })
    if (addresses.length === 0) throw registryUnreachable(text)
    if (addresses.some(({ address }) => isLocal(address))) throw registryLocal(text)
  }

  async #addressesOf(hostname: string, signal?: AbortSignal): Promise<readonly { readonly address: string }[]> {
    const { promise: late, reject } = Promise.withResolvers<never>()
    const end = (): void => reject(new AppError('deadline_exceeded', `no answer for the name ${hostname}`))
    const deadline = setTimeout(end, LOOK_UP_TIMEOUT_MS)
    signal?.addEventListener('abort', end, { once: true })
    try {
      return await Promise.race([this.#lookUp(hostname), late])
    } finally {
      clearTimeout(deadline)
      signal?.removeEventListener('abort', end)
    }
  }
}

function isLocal(address: string): boolean {
  return LOCAL_RANGES.has(ipaddr.process(address).range())
}
