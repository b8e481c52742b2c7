import type { Sandbox } from '@e2b/code-interpreter'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openSandbox, type OpenSandbox } from './sandbox.ts'

let open: OpenSandbox
let sandbox: Sandbox

beforeAll(async () => {
  open = await openSandbox()
  sandbox = open.sandbox
})
afterAll(() => open[Symbol.asyncDispose]())

describe('runCode in Python', () => {
  test('gives the value of the last line, and keeps the state and the count', async () => {
    const first = await sandbox.runCode('x = 20; x + 1')
    const second = await sandbox.runCode('x + 22')
    expect([first.text, second.text]).toEqual(['21', '42'])
    expect(second.executionCount).toBe((first.executionCount ?? 0) + 1)
  })

  test('streams what is printed while the cell runs, to both outputs', async () => {
    const seen: string[] = []
    let first: number | undefined
    const code = 'import sys, time\nprint("é 😀", flush=True)\nprint("err", file=sys.stderr, flush=True)\ntime.sleep(2)\nprint("end")'
    const { logs } = await sandbox.runCode(code, {
      onStdout: ({ line }) => {
        first ??= performance.now()
        seen.push(line)
      },
      onStderr: ({ line }) => void seen.push(line),
    })
    expect(performance.now() - (first ?? Infinity)).toBeGreaterThan(1000)
    expect(seen.join('')).toContain('é 😀\n')
    expect(logs.stdout.join('')).toBe('é 😀\nend\n')
    expect(logs.stderr.join('')).toBe('err\n')
  })

  test('reports an error with its traceback, and goes on after it', async () => {
    const { error, results } = await sandbox.runCode('def f():\n    return 1 / 0\nf()')
    expect(results).toEqual([])
    expect(error).toMatchObject({ name: 'ZeroDivisionError', value: 'division by zero' })
    expect(error?.traceback).toContain('return')
    expect((await sandbox.runCode('1')).text).toBe('1')
    expect((await sandbox.runCode('def')).error?.name).toBe('SyntaxError')
  })

  test('gives results of every kind', async () => {
    const code = `
from IPython.display import display, HTML, Markdown, SVG, Latex, JSON, Javascript, Image
import base64
for shown in (HTML("<b>x</b>"), Markdown("# x"), SVG("<svg xmlns='http://www.w3.org/2000/svg'/>"), Latex("$x$"), JSON({"a": 1}), Javascript("1")):
    display(shown)
display({"application/pdf": "cGRm", "image/jpeg": "anBn", "text/x-own": "own"}, raw=True)
"text"`
    const { results } = await sandbox.runCode(code)
    expect(results.map((result) => result.formats())).toEqual([
      ['html'],
      ['markdown'],
      ['svg'],
      ['latex'],
      ['json'],
      ['javascript'],
      ['jpeg', 'pdf', 'text/x-own'],
      [],
    ])
    expect(results.at(-1)).toMatchObject({ text: 'text', isMainResult: true })
    expect(results[6]?.extra).toEqual({ 'text/x-own': 'own' })
  })

  test('gives frames with their columns, and lists as JSON', async () => {
    const frame = await sandbox.runCode('import pandas as pd\npd.DataFrame({"a": [1, 2], "t": [pd.Timestamp("2024-01-02"), None]})')
    expect(frame.results[0]?.data).toEqual({ a: [1, 2], t: ['2024-01-02T00:00:00', null] })
    expect(frame.results[0]?.html).toContain('<table')
    expect((await sandbox.runCode('[1, {"a": None}]')).results[0]?.json).toEqual([1, { a: null }])
  })

  test('gives frames with arrays and with names that are there twice', async () => {
    const arrays = await sandbox.runCode('import numpy as np\npd.DataFrame({"v": [np.array([1, 2])], "n": [pd.NA]})')
    expect(arrays.error).toBeUndefined()
    expect(arrays.results[0]?.data).toEqual({ v: ['[1 2]'], n: [null] })
    const twice = await sandbox.runCode('pd.DataFrame([[1, 2]], columns=["a", "a"])')
    expect([twice.results[0]?.data, twice.logs.stderr]).toEqual([{ a: [2] }, []])
  })

  test('gives no JSON for a list with more items than clients want, at any depth', async () => {
    const { results } = await sandbox.runCode('import numpy as np\n[np.zeros((1000, 1000))]')
    expect(results[0]?.text).toContain('array(')
    expect(results[0]?.json).toBeUndefined()
  })

  test('exit() ends the cell and not the kernel', async () => {
    expect((await sandbox.runCode('kept = 3\nexit()')).error?.name).toBe('SystemExit')
    expect((await sandbox.runCode('import time; time.sleep(1.5); kept')).text).toBe('3')
  })

  test('refuses variables that no process can have', async () => {
    await expect(sandbox.runCode('1', { envs: { 'A=B': 'x' } })).rejects.toThrow('400')
  })

  test.each([
    [
      'line',
      'plt.plot([1, 2], [3, 4], label="l")',
      {
        label: 'l',
        points: [
          [1, 3],
          [2, 4],
        ],
      },
    ],
    [
      'scatter',
      'plt.scatter([1, 2], [3, 4], label="s")',
      {
        label: 's',
        points: [
          [1, 3],
          [2, 4],
        ],
      },
    ],
    ['bar', 'plt.bar(["a", "b"], [3, 4])', { label: 'a', value: 3 }],
    ['pie', 'plt.pie([1, 3], labels=["a", "b"])', { label: 'a', angle: 90 }],
  ])('gives a figure as a picture and as the chart %s', async (type, plot, element) => {
    const { results, error } = await sandbox.runCode(`import matplotlib.pyplot as plt\n${plot}\nplt.title("T")\nplt.show()`)
    expect(error).toBeUndefined()
    expect(results[0]?.png).toMatch(/^iVBO/)
    expect(results[0]?.chart).toMatchObject({ type, title: 'T' })
    expect(results[0]?.chart?.elements[0]).toMatchObject(element)
  })

  test.each([
    ['lines', 'plt.boxplot(values, tick_labels=["a", "b"])'],
    ['patches', 'plt.boxplot(values, tick_labels=["a", "b"], patch_artist=True, notch=True, showmeans=True)'],
    ['horizontal boxes', 'plt.boxplot(values, tick_labels=["a", "b"], orientation="horizontal")'],
    ['boxes over a line', 'plt.plot([1, 2], [3, 5]); plt.boxplot(values, tick_labels=["a", "b"])'],
    ['boxes of pandas', 'import pandas as pd\npd.DataFrame({"a": pd.Series(values[0]), "b": pd.Series(values[1])}).boxplot()'],
    ['boxes of seaborn', 'import seaborn as sns\nsns.boxplot({"a": values[0], "b": values[1]})'],
  ])('gives a box plot of %s as a chart', async (_, plot) => {
    const code = `import matplotlib.pyplot as plt\nvalues = [[1, 2, 3, 4, 20], [2, 3, 4, 5, 6, -9]]\n${plot}\nplt.title("T")\nplt.show()`
    const { results, error } = await sandbox.runCode(code)
    expect(error).toBeUndefined()
    expect(results[0]?.png).toMatch(/^iVBO/)
    expect(results[0]?.chart).toMatchObject({ type: 'box_and_whisker', title: 'T' })
    expect(results[0]?.chart?.elements).toEqual([
      { label: 'a', min: 1, first_quartile: 2, median: 3, third_quartile: 4, max: 4, outliers: [20] },
      { label: 'b', min: 2, first_quartile: 2.25, median: 3.5, third_quartile: 4.75, max: 6, outliers: [-9] },
    ])
  })

  test('prints nothing about a figure whose chart cannot be read', async () => {
    const { results, logs } = await sandbox.runCode(
      'import matplotlib.pyplot as plt\nplt.boxplot([1, 2, 3, 20], showbox=False)\nplt.show()',
    )
    expect(results[0]?.png).toMatch(/^iVBO/)
    expect(logs.stderr).toEqual([])
  })

  test('gives two axes as a superchart', async () => {
    const { results } = await sandbox.runCode('fig, (a, b) = plt.subplots(2)\na.plot([1], [1])\nb.scatter([1], [1])\nplt.show()')
    expect(results[0]?.chart).toMatchObject({ type: 'superchart', elements: [{ type: 'line' }, { type: 'scatter' }] })
    const withBoxes = await sandbox.runCode('fig, (a, b) = plt.subplots(2)\na.boxplot([1, 2, 3])\nb.plot([1], [1])\nplt.show()')
    expect(withBoxes.results[0]?.chart).toMatchObject({ type: 'superchart', elements: [{ type: 'box_and_whisker' }, { type: 'line' }] })
  })

  test('sets variables for one cell', async () => {
    const code = 'import os; os.environ.get("ONLY_HERE")'
    expect((await sandbox.runCode(code, { envs: { ONLY_HERE: 'it\'s "x" 😀' } })).text).toBe('it\\\'s "x" 😀')
    expect((await sandbox.runCode(code)).text).toBeUndefined()
    expect((await sandbox.runCode('os.environ["E2B_SANDBOX_ID"]')).text).toBe(sandbox.sandboxId)
  })
})

describe('a cell that goes too far', () => {
  test('prints 10 MB', async () => {
    const { logs } = await sandbox.runCode('for i in range(10): print("é" * (512 * 1024 - 1) + "\\n" + "x" * (512 * 1024 - 1))')
    expect(logs.stdout.join('').length).toBe(10 * 1024 * 1024)
  }, 120_000)

  test('that never ends is interrupted when its client goes', async () => {
    await expect(sandbox.runCode('import time\nwhile True: time.sleep(0.1)', { timeoutMs: 2000 })).rejects.toThrow('timed out')
    expect((await sandbox.runCode('1 + 1')).text).toBe('2')
    expect((await sandbox.runCode('x')).text).toBe('20')
  }, 60_000)

  test('that cannot be interrupted ends with its kernel', async () => {
    const code = 'import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass'
    await expect(sandbox.runCode(code, { timeoutMs: 2000 })).rejects.toThrow('timed out')
    expect((await sandbox.runCode('1 + 1')).text).toBe('2')
    expect((await sandbox.runCode('x')).error?.name).toBe('NameError')
  }, 120_000)

  test('that ends its kernel is reported, and the next one runs', async () => {
    const { error } = await sandbox.runCode('import os; os._exit(1)')
    expect(error?.name).toBe('UnexpectedEndOfExecution')
    expect((await sandbox.runCode('1 + 1')).text).toBe('2')
  }, 120_000)

  test('that starts 300 processes leaves a sandbox that works', async () => {
    const context = await sandbox.createCodeContext()
    const start = 'import subprocess; started = [subprocess.Popen(["sleep", "300"]) for _ in range(300)]; len(started)'
    expect((await sandbox.runCode(start, { context })).text).toBe('300')
    expect((await sandbox.runCode('1 + 1')).text).toBe('2')
    expect((await sandbox.runCode('for one in started: one.kill()', { context })).error).toBeUndefined()
    await sandbox.removeCodeContext(context)
  }, 120_000)

  test.for([
    ['one process', 'kept = []\nwhile True: kept.append(bytearray(50 * 1024 * 1024))'],
    [
      '20 processes',
      'import os, time\nfor _ in range(20):\n  if os.fork() == 0:\n    x = bytearray(300 * 1024 * 1024); time.sleep(300); os._exit(0)\nfor _ in range(20): os.wait()',
    ],
  ] as const)('that takes more memory than there is in %s leaves other contexts working', { timeout: 120_000 }, async ([, code]) => {
    const context = await sandbox.createCodeContext()
    const cell = sandbox.runCode(code, { context, timeoutMs: 20_000 }).then(
      ({ error }) => error?.name,
      (err: Error) => err.name,
    )
    // The kernel of Linux may end any kernel; the context then has a new one.
    await expect.poll(async () => (await sandbox.runCode('1 + 1', { timeoutMs: 30_000 })).text, { timeout: 60_000 }).toBe('2')
    expect(await cell).toMatch(/^(MemoryError|UnexpectedEndOfExecution|TimeoutError)$/)
    expect((await sandbox.runCode('1 + 1')).text).toBe('2')
    await sandbox.removeCodeContext(context)
  })
})
