import { describe, expect, it } from 'vitest'
import { BuilderOutput } from './builder-output.ts'

describe('the output of the builder', () => {
  it('has the steps as written by the user, without colours, ids and added steps', () => {
    const lines: string[] = []
    const output = new BuilderOutput({ shown: ['FROM debian', undefined, 'RUN x'], onLine: (line) => lines.push(line) })
    const news = [
      'Step 1/3 : FROM sha256:0',
      '\n',
      ' ---> \n',
      ' ---> 602b9296fa52\n',
      'Step 2/3 : LABEL a=b\n ---> Running in 602b9296fa52\n',
      'Removing intermediate container 602b9296fa52\n ---> 602b9296fa52\n',
      'Step 3/3 : RUN x\n',
      'one ',
      'line\n\u001B[91mred\n\u001B[0mStep 4/3 : not a step\r\n',
      'without an end',
    ]
    for (const stream of news) output.add({ stream })
    output.add({})
    output.end()
    output.end()
    expect(lines).toEqual(['Step 1/2 : FROM debian', 'Step 2/2 : RUN x', 'one line', 'red', 'Step 4/3 : not a step', 'without an end'])
  })

  it('is split when a line becomes too long', () => {
    const lines: string[] = []
    const output = new BuilderOutput({ shown: [], onLine: (line) => lines.push(line) })
    for (let count = 0; count < 20; count += 1) output.add({ stream: 'x'.repeat(10_000) })
    expect(lines.length).toBeGreaterThan(1)
  })
})
