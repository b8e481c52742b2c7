/** The part of node-pty that the tests use; the library declares its types for the name `@lydell/node-pty` only. */
declare module 'node-pty' {
  interface Options {
    readonly cols: number
    readonly rows: number
    readonly cwd: string
    readonly env: Readonly<Record<string, string>>
  }
  export interface IPty {
    onData(listener: (data: string) => void): unknown
    onExit(listener: (end: { readonly exitCode: number }) => void): unknown
    write(keys: string): void
    resize(cols: number, rows: number): void
    kill(signal: string): void
  }
  export function spawn(file: string, args: string[], options: Options): IPty
}
