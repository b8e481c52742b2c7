/** The part of node-pty that loads its native code; the library ships no types for it. */
declare module 'node-pty/requireBinary.js' {
  export function requireBinary(file: 'pty.node'): {
    /** Opens a terminal; both descriptors do not block and are inherited by programs. */
    open(cols: number, rows: number): { readonly master: number; readonly slave: number; readonly pty: string }
    resize(master: number, cols: number, rows: number): void
  }
}
