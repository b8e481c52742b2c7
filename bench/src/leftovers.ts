import { execFile } from 'node:child_process'
import { readdir, readlink } from 'node:fs/promises'
import { promisify } from 'node:util'
import { countLabelled, listContainers } from './engine.ts'
import { readMetricsPage } from './metrics-page.ts'
import { privateMibOf } from './private-memory.ts'
import { countDescriptors, findServerProcesses } from './server-processes.ts'
import type { Settings } from './settings.ts'

const run = promisify(execFile)

/** What an installation has on this machine, by kind. */
export type Inventory = Readonly<Record<string, number>>

/**
 * Counts containers, volumes, networks and images of the installation, rows of sandboxes in any state, elements of its network rules, and
 * sockets and descriptors of the server's processes. What cannot be read here is left out.
 */
export async function takeInventory({ apiUrl, metricsUrl }: Settings, installation: string): Promise<Inventory> {
  const label = `sandyard.installation=${installation}`
  const processes = await findServerProcesses(apiUrl)
  const pids = processes.filter(({ role }) => role !== 'postgres').map(({ pid }) => pid)
  const counts: Record<string, number> = {
    containers: (await listContainers(label)).length,
    volumes: await countLabelled('volumes', label),
    networks: await countLabelled('networks', label),
    images: await countLabelled('images', label),
    descriptors: sum(await Promise.all(pids.map(countDescriptors))),
    sockets: sum(await Promise.all(pids.map(countSockets))),
    'private memory of the server, MiB': sum(await Promise.all(pids.map(privateMibOf))),
  }
  const rules = await countRules(installation)
  if (rules !== undefined) counts['lines of network rules'] = rules
  const page = await readMetricsPage(metricsUrl).catch(() => undefined)
  const rows = [...(page ?? [])].filter(([name]) => /^sandyard_(?:pool_)?sandboxes\{/.test(name))
  if (rows.length > 0) counts['rows of sandboxes'] = sum(rows.map(([, count]) => count))
  return counts
}

async function countSockets(pid: number): Promise<number> {
  const folder = `/proc/${pid}/fd`
  const names = await readdir(folder).catch(() => [])
  const targets = await Promise.all(names.map((name) => readlink(`${folder}/${name}`).catch(() => '')))
  return targets.filter((target) => target.startsWith('socket:')).length
}

/** Undefined without `nft` on this machine. */
async function countRules(installation: string): Promise<number | undefined> {
  const list = async (family: string) => (await run('nft', ['list', 'table', family, `sandyard-${installation}`])).stdout
  const texts = await Promise.all(['bridge', 'inet'].map(list)).catch(() => undefined)
  return texts === undefined ? undefined : sum(texts.map((text) => text.split('\n').length))
}

function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0)
}
