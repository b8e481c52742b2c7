import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { startOwnedDockerd, stopOwnedDockerd } from '../src/engine/owned-dockerd.ts'
import { commandLine } from '../src/process/process-identity.ts'

it('starts the engine with the environment of the server, but without its secrets', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'standalone-engine-'))
  const recordFile = join(folder, 'engine.json')
  const environment = {
    PATH: '/usr/bin:/bin',
    HTTPS_PROXY: 'http://proxy:3128',
    DATABASE_URL: 'postgres://secret-one@host/db',
    SANDYARD_ADMIN_TOKEN: 'secret-two',
  }
  // A program that runs as long as an engine would.
  const { pid } = startOwnedDockerd({ program: 'sleep', args: ['60'], environment, recordFile, logFile: join(folder, 'engine.log') })
  try {
    await pollUntil({ what: 'the program', timeoutMs: 20_000, everyMs: 10 }, () => commandLine(pid)[0] === 'sleep' || undefined)
    const seen = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
    expect(seen).toContain('HTTPS_PROXY=http://proxy:3128')
    expect(seen.join()).not.toContain('secret')
  } finally {
    expect(await stopOwnedDockerd(recordFile)).toBe('stopped')
    rmSync(folder, { recursive: true, force: true })
  }
})
