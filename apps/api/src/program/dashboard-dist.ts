import { execFile } from 'node:child_process'
import { readdir, rename, rm, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startStopwatch } from '@sandyard/kit/async/timed-step'
import type { DashboardConfig } from '../dashboard/dashboard-config.ts'
import type { ProgramParts } from './program-parts.ts'

const BUILD_TIMEOUT_MS = 180_000
const MAX_OUTPUT_BYTES = 1024 * 1024
/** What the built page is made of, in the folder of the app. */
const SOURCES = ['src', 'build', 'public', 'index.html', 'vite.config.ts', 'package.json', '../../packages/dashboard-contract/src']

type Parts = Pick<ProgramParts, 'environment' | 'log' | 'progress'>

/**
 * Builds the pages of a checkout when they are absent or older than their sources. A failure is reported and does not keep the server from
 * starting: without pages the dashboard answers 503, with older ones it serves those.
 */
export async function prepareDashboard(parts: Parts, { isOn, dist, sources }: DashboardConfig): Promise<void> {
  if (!isOn || sources === undefined) return
  try {
    const builtAt = await changedAt(join(dist, 'index.html'))
    if (builtAt !== undefined && builtAt >= (await newest(sources))) return
    const took = startStopwatch()
    await build(parts, { dist, sources })
    parts.progress.step(`dashboard: pages built, ${took()}`)
  } catch (err) {
    parts.log.warn({ err }, 'the pages of the dashboard could not be built')
    parts.progress.step('dashboard: its pages could not be built; the log has the reason')
  }
}

async function build({ environment }: Parts, { dist, sources }: { readonly dist: string; readonly sources: string }): Promise<void> {
  const vite = join(createRequire(join(sources, 'package.json')).resolve('vite/package.json'), '../bin/vite.js')
  // Several servers of one checkout may start at once: each builds for itself, and the folder is always complete.
  const building = `${dist}.building-${process.pid}`
  try {
    await promisify(execFile)(process.execPath, [vite, 'build', sources, '--outDir', building, '--emptyOutDir', '--logLevel', 'warn'], {
      cwd: sources,
      env: { PATH: environment['PATH'], HOME: environment['HOME'], NODE_ENV: 'production' },
      timeout: BUILD_TIMEOUT_MS,
      killSignal: 'SIGKILL',
      maxBuffer: MAX_OUTPUT_BYTES,
    })
    await rm(dist, { recursive: true, force: true })
    await rename(building, dist)
  } finally {
    await rm(building, { recursive: true, force: true })
  }
}

async function newest(sources: string): Promise<number> {
  const times = await Promise.all(SOURCES.map((name) => newestBelow(join(sources, name))))
  return Math.max(0, ...times)
}

async function newestBelow(path: string): Promise<number> {
  const own = await changedAt(path)
  if (own === undefined) return 0
  const names = await readdir(path, { recursive: true }).catch(() => [])
  const times = await Promise.all(names.map((name) => changedAt(join(path, name))))
  return Math.max(own, ...times.map((time) => time ?? 0))
}

async function changedAt(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).mtimeMs
  } catch {
    return undefined
  }
}
