import type { LanguageSupport } from '@codemirror/language'

const script = async (options: { jsx?: boolean; typescript?: boolean }): Promise<LanguageSupport> =>
  (await import('@codemirror/lang-javascript')).javascript(options)

const LOADERS: Readonly<Record<string, () => Promise<LanguageSupport>>> = {
  js: () => script({}),
  mjs: () => script({}),
  cjs: () => script({}),
  jsx: () => script({ jsx: true }),
  ts: () => script({ typescript: true }),
  mts: () => script({ typescript: true }),
  tsx: () => script({ jsx: true, typescript: true }),
  py: async () => (await import('@codemirror/lang-python')).python(),
  json: async () => (await import('@codemirror/lang-json')).json(),
  md: async () => (await import('@codemirror/lang-markdown')).markdown(),
  html: async () => (await import('@codemirror/lang-html')).html(),
  css: async () => (await import('@codemirror/lang-css')).css(),
  yaml: async () => (await import('@codemirror/lang-yaml')).yaml(),
  yml: async () => (await import('@codemirror/lang-yaml')).yaml(),
}

/** The language of a file by its name; each is loaded when it is first needed. Undefined: none, or it could not be loaded. */
export async function languageOf(path: string): Promise<LanguageSupport | undefined> {
  const extension = path.slice(path.lastIndexOf('.') + 1).toLowerCase()
  try {
    return await LOADERS[extension]?.()
  } catch {
    return undefined
  }
}
