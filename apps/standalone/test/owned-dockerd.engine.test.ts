import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { findProgram } from '@sandyard/runtime-docker/host/find-program'
import { isStillRunning, type ProcessIdentity } from '../src/process/process-identity.ts'
import {
  findOwnedDockerd,
  lastEngineError,
  MACHINE_ENGINE,
  removeStalePidFile,
  startOwnedDockerd,
  stopOwnedDockerd,
} from '../src/engine/owned-dockerd.ts'

const dockerd = findProgram('dockerd')
const unshare = findProgram('unshare')
const NEEDS = 'absent here: dockerd, unshare or root, which a second engine needs'
const folder = mkdtempSync(join(tmpdir(), 'standalone-dockerd-'))
const recordFile = join(folder, 'run/engine.json')
const logFile = join(folder, 'engine.log')
const socket = join(folder, 'docker.sock')
const pidFile = join(folder, 'docker.pid')

const PLACE = `--data-root ${folder}/data --exec-root ${folder}/exec --pidfile ${pidFile} --host unix://${socket}`.split(' ')
const APART = '--bridge=none --iptables=false --ip6tables=false --ip-forward=false --storage-driver=vfs'.split(' ')

/**
 * A second engine, with its own files and in its own network namespace: an engine without a bridge removes the default bridge
 * of its namespace, even when the bridge belongs to another engine.
 */
function start(): ProcessIdentity {
  return startOwnedDockerd({
    program: unshare ?? '',
    args: ['--net', dockerd ?? '', ...PLACE, ...APART],
    environment: process.env,
    recordFile,
    logFile,
  })
}

function ping(): Promise<string | undefined> {
  return new Promise((resolve) => {
    request({ socketPath: socket, path: '/_ping' }, (response) => response.on('data', (data: Buffer) => resolve(data.toString())))
      .on('error', () => resolve(undefined))
      .end()
  })
}

afterAll(async () => {
  await stopOwnedDockerd(recordFile)
  rmSync(folder, { recursive: true, force: true })
})

it('starts an engine, finds it again, and ends only this one', async (context) => {
  if (dockerd === undefined || unshare === undefined || process.getuid?.() !== 0) return context.skip(NEEDS)
  const mine = start()
  expect(findOwnedDockerd(recordFile)).toEqual(mine)
  expect(await pollUntil({ what: 'the engine', timeoutMs: 60_000, everyMs: 100 }, ping)).toBe('OK')
  writeFileSync(recordFile, JSON.stringify({ ...mine, startTicks: '1' }))
  expect(await stopOwnedDockerd(recordFile)).toBe('not-ours')
  expect(isStillRunning(mine)).toBe(true)
  writeFileSync(recordFile, JSON.stringify(mine))
  expect(await stopOwnedDockerd(recordFile)).toBe('stopped')
  expect(await ping()).toBeUndefined()
  expect(existsSync(recordFile)).toBe(false)
})

it('reports why an engine ended, from its log', async (context) => {
  if (dockerd === undefined || unshare === undefined || process.getuid?.() !== 0) return context.skip(NEEDS)
  const failing = startOwnedDockerd({
    program: unshare,
    args: ['--net', dockerd, ...PLACE, ...APART, '--data-root', '/dev/null/data'],
    environment: process.env,
    recordFile,
    logFile,
  })
  await pollUntil({ what: 'its end', timeoutMs: 30_000, everyMs: 50 }, () => (isStillRunning(failing) ? undefined : true))
  expect(lastEngineError(logFile)).toMatch(/not a directory/)
})

it('removes the pid file of a killed engine, also when another process has its pid, and keeps that of a live one', () => {
  writeFileSync(pidFile, String(process.pid))
  removeStalePidFile(pidFile)
  expect(existsSync(pidFile)).toBe(false)
  removeStalePidFile(pidFile)
  if (!existsSync(MACHINE_ENGINE.dockerPidFile)) return
  writeFileSync(pidFile, readFileSync(MACHINE_ENGINE.dockerPidFile))
  removeStalePidFile(pidFile)
  expect(existsSync(pidFile)).toBe(true)
})
