import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { install } from '../ready-made/support/install.ts'
import { copyExample, npmInstall } from './run-example.ts'

/** Its packages come from Debian, npm and PyPI. */
const INSTALL_MS = 900_000
beforeAll(() => install('code-interpreter-v1'), INSTALL_MS)

interface Message {
  readonly role: string
  readonly content?: string
}

const CHART = `import pandas, matplotlib.pyplot as plt
sales = pandas.read_csv("sales.csv")
sales.plot.bar(x="month", y="sold")
plt.show()`
const CELLS = ['print(open("missing.csv").read())', CHART, 'int(sales.sold.sum())']

/** Stands in for a model, which no test can reach: asks for the cells one after the other, and answers with what the last one gave. */
function answer(messages: readonly Message[]): object {
  const outputs = messages.filter(({ role }) => role === 'tool').map(({ content = '' }) => content)
  const code = CELLS[outputs.length]
  if (code === undefined)
    return { role: 'assistant', content: `Sold: ${outputs.at(-1)}; at first: ${outputs[0]?.trim().split('\n').at(-1)}` }
  const call = { name: 'run_python', arguments: JSON.stringify({ code }) }
  return { role: 'assistant', content: null, tool_calls: [{ id: `call-${outputs.length}`, type: 'function', function: call }] }
}

test('the agent example answers with what its cells gave, sees errors, and keeps charts', async () => {
  await using example = await copyExample('agent')
  await npmInstall(example)
  await writeFile(join(example.directory, 'sales.csv'), 'month,sold\njan,20\nfeb,22\n')
  const asked: { authorization: string | undefined; messages: readonly Message[] }[] = []
  const model = createServer((request, response) => {
    void json(request).then((body) => {
      const { messages } = body as { messages: readonly Message[] }
      asked.push({ authorization: request.headers.authorization, messages })
      response.setHeader('Content-Type', 'application/json').end(JSON.stringify({ choices: [{ message: answer(messages) }] }))
    })
  }).listen(0, '127.0.0.1')
  await once(model, 'listening')
  try {
    const environment = {
      OPENAI_BASE_URL: `http://127.0.0.1:${(model.address() as AddressInfo).port}/v1`,
      OPENAI_API_KEY: 'key-of-the-model',
    }
    const args = ['run', '--silent', 'start', '--', 'sales.csv', 'How many were sold?']
    const { status, stdout, stderr } = await example.run('npm', args, environment)
    expect({ status, stdout }, stderr).toEqual({
      status: 0,
      stdout: expect.stringMatching(/^Sold: 42; at first: FileNotFoundError: .*missing\.csv/),
    })
  } finally {
    model.closeAllConnections()
    model.close()
  }
  expect(asked).toHaveLength(4)
  expect(asked[0]).toMatchObject({
    authorization: 'Bearer key-of-the-model',
    messages: [{ role: 'system' }, { content: 'How many were sold?' }],
  })
  expect((await readFile(join(example.directory, 'chart-1.png'))).subarray(1, 4).toString()).toBe('PNG')
})
