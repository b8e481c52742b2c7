// An agent that answers a question about a file with code: the model writes Python, a sandbox runs it.
// Any server with the chat completions of OpenAI will do: OPENAI_BASE_URL, OPENAI_API_KEY, OPENAI_MODEL.
//
//   npm start -- <file> <question>
import { readFile, writeFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { Sandbox } from '@e2b/code-interpreter'

const MAX_TURNS = 10
const { OPENAI_BASE_URL = 'https://api.openai.com/v1', OPENAI_API_KEY = '', OPENAI_MODEL = 'gpt-5-mini' } = process.env

const RUN_PYTHON = {
  type: 'function',
  function: {
    name: 'run_python',
    description: 'Runs a cell of a Jupyter notebook. Variables stay for the next cell; the last expression and charts are results.',
    parameters: { type: 'object', properties: { code: { type: 'string' } }, required: ['code'] },
  },
}

async function ask(messages) {
  const answer = await fetch(`${OPENAI_BASE_URL}/chat/completions`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${OPENAI_API_KEY}` },
    body: JSON.stringify({ model: OPENAI_MODEL, messages, tools: [RUN_PYTHON] }),
    signal: AbortSignal.timeout(120_000),
  })
  if (!answer.ok) throw new Error(`the model answered with ${answer.status}: ${(await answer.text()).slice(0, 500)}`)
  return (await answer.json()).choices[0].message
}

let charts = 0

/** What the model reads of a cell: printed text, results as text, and the error. Charts become files here. */
async function runCell(sandbox, code) {
  const { logs, results, error } = await sandbox.runCode(code)
  const lines = [...logs.stdout, ...logs.stderr]
  for (const { png, text } of results) {
    if (png !== undefined) {
      charts += 1
      await writeFile(`chart-${charts}.png`, Buffer.from(png, 'base64'))
      lines.push(`(the chart is shown to the user as chart-${charts}.png)`)
    } else if (text !== undefined) lines.push(text)
  }
  if (error !== undefined) lines.push(stripVTControlCharacters(error.traceback))
  return lines.join('\n') || '(no output)'
}

const [file, question] = process.argv.slice(2)
if (question === undefined) {
  console.error('usage: npm start -- <file> <question>')
  process.exit(64)
}
const name = basename(file)
const sandbox = await Sandbox.create({ timeoutMs: 600_000 })
try {
  await sandbox.files.write(name, new Blob([await readFile(file)]))
  const messages = [
    { role: 'system', content: `Answer with the help of run_python. The user's file is ${name} in the working directory.` },
    { role: 'user', content: question },
  ]
  for (let turn = 1; turn <= MAX_TURNS; turn += 1) {
    const message = await ask(messages)
    messages.push(message)
    if (!message.tool_calls?.length) {
      console.log(message.content)
      break
    }
    for (const { id, function: call } of message.tool_calls) {
      const { code } = JSON.parse(call.arguments)
      console.error(`--- cell\n${code}`)
      messages.push({ role: 'tool', tool_call_id: id, content: await runCell(sandbox, code) })
    }
    if (turn === MAX_TURNS) throw new Error(`the model has no answer after ${MAX_TURNS} turns`)
  }
} finally {
  await sandbox.kill()
}
