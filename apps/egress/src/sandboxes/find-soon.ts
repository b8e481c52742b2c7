import { setTimeout as delay } from 'node:timers/promises'
import type { EgressSandbox } from './sandbox.ts'

interface Catalog {
  find(address: string): Promise<EgressSandbox | undefined>
}

const WAIT_MS = 5000
const EVERY_MS = 100

/**
 * The sandbox at an address. Waits five seconds for one that is not known yet: the programs of a resumed sandbox run before its row says so.
 *
 * @throws any error of the catalog
 */
export async function findSoon(catalog: Catalog, address: string): Promise<EgressSandbox | undefined> {
  const deadline = performance.now() + WAIT_MS
  while (true) {
    const sandbox = await catalog.find(address)
    if (sandbox !== undefined || performance.now() >= deadline) return sandbox
    await delay(EVERY_MS)
  }
}
