import { defaultHighlightStyle, HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import { EditorView } from '@codemirror/view'

/** The library's colours for a light ground, and ours in their place: tokens of the page, which have contrast in both schemes. */
const COLOURS: Readonly<Record<string, string>> = {
  '#404740': 'var(--muted)',
  '#708': 'light-dark(#8a2a8f, #e7a0ea)',
  '#219': 'var(--accent)',
  '#164': 'var(--good)',
  '#a11': 'light-dark(#a11b1b, #ff9f97)',
  '#e40': 'var(--warn)',
  '#00f': 'var(--accent)',
  '#30a': 'light-dark(#3a1fa8, #b9a8ff)',
  '#085': 'light-dark(#00664d, #6fd6b8)',
  '#167': 'light-dark(#0b6672, #6fd0dc)',
  '#256': 'light-dark(#1f5a63, #8fd0da)',
  '#00c': 'var(--accent)',
  '#940': 'var(--muted)',
  '#f00': 'var(--bad)',
}

const highlight = HighlightStyle.define(
  defaultHighlightStyle.specs.map((spec) => {
    const colour = (spec as { color?: string }).color
    return colour === undefined ? spec : { ...spec, color: COLOURS[colour] ?? 'var(--text)' }
  }),
)

const theme = EditorView.theme({
  '&': { height: '100%', backgroundColor: 'var(--raised)', color: 'var(--text)', fontSize: '12.5px' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '20px' },
  '.cm-content': { caretColor: 'var(--accent)' },
  '.cm-cursor': { borderLeftColor: 'var(--accent)' },
  '.cm-gutters': { backgroundColor: 'var(--raised)', color: 'var(--muted)', borderRight: '1px solid var(--line)' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'color-mix(in srgb, var(--accent) 7%, transparent)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--selected)',
  },
  '.cm-panels': { backgroundColor: 'var(--sunken)', color: 'var(--text)' },
  '.cm-searchMatch': { backgroundColor: 'light-dark(#ffe08a, #5c4700)' },
  '.cm-textfield, .cm-button': {
    border: '1px solid var(--control-line)',
    borderRadius: '4px',
    background: 'var(--raised)',
    color: 'var(--text)',
    fontSize: '12.5px',
  },
  '.cm-changedLine': { backgroundColor: 'color-mix(in srgb, var(--good) 12%, transparent) !important' },
  '.cm-deletedChunk': { backgroundColor: 'color-mix(in srgb, var(--bad) 12%, transparent)' },
  '.cm-changedText': { background: 'color-mix(in srgb, var(--good) 28%, transparent)' },
  '.cm-deletedText': { background: 'color-mix(in srgb, var(--bad) 28%, transparent)' },
  '.cm-collapsedLines': { background: 'var(--sunken)', color: 'var(--text)' },
})

export const editorStyle = [theme, syntaxHighlighting(highlight)]
