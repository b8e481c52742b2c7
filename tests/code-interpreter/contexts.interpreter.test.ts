import type { Sandbox } from '@e2b/code-interpreter'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openSandbox, type OpenSandbox } from './sandbox.ts'

let open: OpenSandbox
let sandbox: Sandbox

beforeAll(async () => {
  open = await openSandbox({ FROM_CREATE: 'yes' })
  sandbox = open.sandbox
})
afterAll(() => open[Symbol.asyncDispose]())

describe('contexts', () => {
  test('of Python and JavaScript are there from the beginning', async () => {
    const contexts = await sandbox.listCodeContexts()
    expect(contexts.map(({ language, cwd }) => [language, cwd])).toEqual(
      expect.arrayContaining([
        ['python', '/home/user'],
        ['javascript', '/home/user'],
      ]),
    )
  })

  test('have a state and a directory of their own, until they are restarted or removed', async () => {
    const context = await sandbox.createCodeContext({ cwd: '/tmp' })
    expect(context).toMatchObject({ language: 'python', cwd: '/tmp' })
    await sandbox.runCode('own = 1', { context })
    expect((await sandbox.runCode('import os; [own, os.getcwd()]', { context })).text).toBe("[1, '/tmp']")
    expect((await sandbox.runCode('own')).error?.name).toBe('NameError')

    await sandbox.restartCodeContext(context)
    expect((await sandbox.runCode('own', { context })).error?.name).toBe('NameError')
    expect((await sandbox.runCode('import os; os.getcwd()', { context })).text).toBe('/tmp')

    await sandbox.removeCodeContext(context)
    expect((await sandbox.listCodeContexts()).map(({ id }) => id)).not.toContain(context.id)
    await expect(sandbox.runCode('1', { context })).rejects.toThrow(`Context ${context.id} not found`)
    await expect(sandbox.restartCodeContext(context)).rejects.toThrow('not found')
  })

  test('a restart of a context ends its running cell with an error that says so', async () => {
    const context = await sandbox.createCodeContext()
    let restarted: Promise<void> | undefined
    const { error } = await sandbox.runCode('print("began", flush=True)\nimport time; time.sleep(60)', {
      context,
      onStdout: () => {
        restarted ??= sandbox.restartCodeContext(context)
      },
    })
    expect(error).toMatchObject({ name: 'ContextRestarting', value: 'Context was restarted' })
    await restarted
    await sandbox.removeCodeContext(context)
  })

  test('of JavaScript return the result of their first cell, also when their kernel sends it after the end of the cell', async () => {
    const texts: (string | undefined)[] = []
    for (let number = 0; number < 30; number += 1) {
      const context = await sandbox.createCodeContext({ language: 'javascript' })
      texts.push((await sandbox.runCode('21 * 2', { context })).text)
      await sandbox.removeCodeContext(context)
    }
    expect(texts).toEqual(texts.map(() => '42'))
  }, 180_000)

  test('of kernels that end again and again go on', async () => {
    const context = await sandbox.createCodeContext()
    for (let number = 0; number < 8; number += 1) {
      expect((await sandbox.runCode('import os; os._exit(1)', { context })).error?.name).toBe('UnexpectedEndOfExecution')
      expect((await sandbox.runCode('1 + 1', { context })).text).toBe('2')
    }
    await sandbox.removeCodeContext(context)
  }, 120_000)

  test('of unknown languages and directories are refused', async () => {
    await expect(sandbox.createCodeContext({ language: 'cobol' })).rejects.toThrow('400')
    await expect(sandbox.createCodeContext({ cwd: '/nowhere' })).rejects.toThrow('400')
    await expect(sandbox.runCode('1', { language: 'cobol' })).rejects.toThrow('400')
  })
})

describe('other languages', () => {
  test.each([
    ['javascript', 'const x = 20; x + 1', 'x + 22', ['21', '42']],
    ['typescript', 'const y: number = 20; y + 1', 'await Promise.resolve(`${y}`)', ['21', '20']],
    ['javascript', '"a"', 'require("node:path").join("a", "b")', ['a', 'a/b']],
  ])(
    '%s gives values and keeps its state',
    async (language, first, second, texts) => {
      const results = [await sandbox.runCode(first, { language }), await sandbox.runCode(second, { language })]
      expect(results.map(({ text, error }) => error ?? text)).toEqual(texts)
    },
    120_000,
  )

  test.each([
    ['javascript', 'let broken = ;', 'Expression expected'],
    ['typescript', 'const ok: number = 1\nfor (const x of [1]) {', "Expected '}', got '<eof>'"],
  ])('%s reports an error of syntax', async (language, code, value) => {
    expect((await sandbox.runCode(code, { language })).error).toMatchObject({ name: 'SyntaxError', value })
  })

  test('javascript goes on after an error that nobody catches, and prints it', async () => {
    await sandbox.runCode('setTimeout(() => { throw new Error("late") }, 50)', { language: 'javascript' })
    const { text, logs } = await sandbox.runCode('await new Promise((done) => setTimeout(done, 500)); 1', { language: 'javascript' })
    expect(text).toBe('1')
    expect(logs.stderr.join('')).toContain('Error: late')
    expect((await sandbox.runCode('Promise.reject(new Error("lost")); 2', { language: 'javascript' })).text).toBe('2')
    expect((await sandbox.runCode('3', { language: 'javascript' })).text).toBe('3')
  }, 60_000)

  test('javascript is started again when what an earlier cell left behind keeps it busy, also while variables are set', async () => {
    const language = 'javascript'
    await sandbox.runCode('setTimeout(() => { while (true) {} }, 10)', { language })
    await expect(sandbox.runCode('1', { language, envs: { A: 'b' }, timeoutMs: 2000 })).rejects.toThrow('timed out')
    expect((await sandbox.runCode('process.env.A', { language, envs: { A: 'c' } })).text).toBe('c')
  }, 60_000)

  test('r has an empty standard input', async () => {
    const { results, error } = await sandbox.runCode('nchar(readline("x? "))', { language: 'r' })
    expect([error, results[0]?.text]).toEqual([undefined, '[1] 0'])
  }, 120_000)

  // The kernel of R sends values as what is displayed, so none is the main result.
  test('r displays values and keeps its state', async () => {
    const results = [await sandbox.runCode('z <- 20; z + 1', { language: 'r' }), await sandbox.runCode('z + 22', { language: 'r' })]
    expect(results.flatMap((execution) => execution.results.map(({ text }) => text))).toEqual(['[1] 21', '[1] 42'])
  }, 120_000)

  test('bash prints, keeps its state and reports a code', async () => {
    await sandbox.runCode('a=1; cd /tmp', { language: 'bash' })
    expect((await sandbox.runCode('echo $a; pwd', { language: 'bash' })).logs.stdout.join('')).toBe('1\n/tmp\n')
    expect((await sandbox.runCode('false', { language: 'bash' })).error?.value).toBe('1')
  }, 120_000)

  test.each([
    ['python', 'import os; print(os.environ["FROM_CELL"])'],
    ['javascript', 'console.log(process.env.FROM_CELL)'],
    ['bash', 'echo $FROM_CELL'],
    ['java', 'System.out.println(System.getenv("FROM_CELL"));'],
    ['r', 'cat(Sys.getenv("FROM_CELL"))'],
  ])(
    '%s sees the variables of the cell',
    async (language, code) => {
      const { logs } = await sandbox.runCode(code, { language, envs: { FROM_CELL: "it's" } })
      expect(logs.stdout.join('').trim()).toBe("it's")
    },
    120_000,
  )
})
