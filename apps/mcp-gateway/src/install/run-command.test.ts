import { expect, it } from 'vitest'
import { runCommand } from './run-command.ts'

const environment = { PATH: process.env['PATH'] ?? '' }

it('ends at its limit, also when a process that it has started holds its output', async () => {
  const command = ['sh', '-c', 'sleep 30 & echo began; wait']
  await expect(runCommand(command, { environment, timeoutMs: 300 })).rejects.toThrow('was ended by SIGKILL (limit: 0.3 s): began')
})

it('ends with its command when a process in the background goes on', async () => {
  await expect(runCommand(['sh', '-c', 'sleep 30 & exit 0'], { environment, timeoutMs: 20_000 })).resolves.toBeUndefined()
})

it('says how a command failed, with the end of what it wrote', async () => {
  const command = ['sh', '-c', 'echo no such package >&2; exit 3']
  await expect(runCommand(command, { environment, timeoutMs: 20_000 })).rejects.toThrow('sh -c ended with 3: no such package')
})
