import { expect, it } from 'vitest'
import { timedStep } from './timed-step.ts'

it('reports the start of a step and its duration', async () => {
  const lines: string[] = []
  const say = (line: string): void => void lines.push(line)
  expect(await timedStep(say, 'building', async () => 'built')).toBe('built')
  expect(lines).toEqual(['building ...', expect.stringMatching(/^building: \d+\.\d s$/)])
  await expect(timedStep(say, 'failing', () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(lines.at(-1)).toBe('failing ...')
})
