import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { bracketMatching, indentOnInput } from '@codemirror/language'
import { unifiedMergeView } from '@codemirror/merge'
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search'
import { Compartment, EditorState } from '@codemirror/state'
import { drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers } from '@codemirror/view'
import { useEffect, useRef } from 'preact/hooks'
import { filesTexts as texts } from '../../../texts/sandbox-files-texts.ts'
import { lineSeparator } from './file-content.ts'
import { languageOf } from './editor-language.ts'
import { editorStyle } from './editor-style.ts'

export interface EditorProps {
  readonly path: string
  /** At the start; another one makes another editor. */
  readonly text: string
  /** Shows the difference from this text. */
  readonly original?: string | undefined
  readonly isReadOnly: boolean
  readonly onChange: (read: () => string) => void
  readonly onSave: () => void
}

/** A text editor. Tab leaves it, as elsewhere on the page; Ctrl+S saves, Ctrl+F searches. */
export function Editor({ path, text, original, isReadOnly, onChange, onSave }: EditorProps) {
  const frame = useRef<HTMLDivElement>(null)
  const handlersRef = useRef({ onChange, onSave })
  useEffect(() => {
    handlersRef.current = { onChange, onSave }
  })
  useEffect(() => {
    if (frame.current === null) return undefined
    const language = new Compartment()
    const view = new EditorView({
      parent: frame.current,
      doc: text,
      extensions: [
        EditorState.lineSeparator.of(lineSeparator(text)),
        EditorState.readOnly.of(isReadOnly),
        EditorView.contentAttributes.of({ 'aria-label': texts.editor(path), spellcheck: 'false' }),
        lineNumbers(),
        highlightActiveLineGutter(),
        highlightActiveLine(),
        history(),
        drawSelection(),
        indentOnInput(),
        bracketMatching(),
        highlightSelectionMatches(),
        language.of([]),
        keymap.of([{ key: 'Mod-s', run: () => save(handlersRef.current.onSave) }, ...defaultKeymap, ...searchKeymap, ...historyKeymap]),
        ...(original === undefined
          ? []
          : [unifiedMergeView({ original, mergeControls: false, collapseUnchanged: { margin: 3, minSize: 6 } })]),
        EditorView.updateListener.of(({ docChanged, state }) => {
          if (docChanged) handlersRef.current.onChange(() => state.sliceDoc())
        }),
        editorStyle,
      ],
    })
    let isGone = false
    void languageOf(path).then((support) => {
      if (support !== undefined && !isGone) view.dispatch({ effects: language.reconfigure(support) })
    })
    return () => {
      isGone = true
      view.destroy()
    }
  }, [path, text, original, isReadOnly])
  return <div ref={frame} class="editor" />
}

function save(onSave: () => void): true {
  onSave()
  return true
}
