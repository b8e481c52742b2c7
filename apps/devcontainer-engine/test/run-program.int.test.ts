import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runProgram } from '../src/root-file-system/run-program.ts'
import { identify } from '../src/work/process-identity.ts'

describe('runProgram', () => {
  it('tells the exit code, and the errors that it keeps', async () => {
    await expect(runProgram(['sh', '-c', 'exit 3'], { timeoutMs: 60_000 })).rejects.toThrow('exit code 3')
    await expect(runProgram(['sh', '-c', 'echo why >&2; exit 3'], { timeoutMs: 60_000, keepsErrors: true })).rejects.toThrow('why')
  })

  it('ends the program when its time is over', async () => {
    await expect(runProgram(['sleep', '600'], { timeoutMs: 100 })).rejects.toThrow('sleep took longer than 0.1 s')
  })

  it('leaves no program behind when its process is killed', async () => {
    const module = join(import.meta.dirname, '../src/root-file-system/run-program.ts')
    const code = `import { runProgram } from '${module}'
      await runProgram(['sh', '-c', 'echo $$; exec sleep 600'], { timeoutMs: 600_000 })`
    const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] })
    const [line] = (await once(child.stdout, 'data')) as [Buffer]
    child.kill('SIGKILL')
    await expect.poll(() => identify(Number(line.toString()))).toBeUndefined()
  })
})
