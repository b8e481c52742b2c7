import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import jdk.jshell.JShell;

/**
 * Runs the cells of the kernel code_interpreter_java.py, one after the other, in one JShell.
 *
 * <p>Requests and answers go through two pipes that the kernel opened, as frames: a byte for the kind, then strings with a length of four
 * bytes before them. Standard output and error are the streams of the process; all of a cell is written before its answer.
 */
public final class CellRunner {
    private static final int RUN = 'R';
    private static final int STOP = 'S';
    private static final int VARIABLES = 'V';
    private static final int READY = 'r';
    private static final int DONE = 'd';
    private static final int FAILED = 'f';

    private static final String IMPORTS =
            "import java.io.*; import java.math.*; import java.net.*; import java.nio.file.*; import java.util.*; import java.util.concurrent.*;"
                    + " import java.util.function.*; import java.util.regex.*; import java.util.stream.*;";

    private final DataInputStream requests;
    private final DataOutputStream answers;
    /** The kernel sends a request when it has the answer of the one before. */
    private final BlockingQueue<Runnable> queue = new ArrayBlockingQueue<>(1);
    private final CellExecution execution = new CellExecution();

    private CellRunner(String requestsDescriptor, String answersDescriptor) throws IOException {
        requests = new DataInputStream(new FileInputStream("/proc/self/fd/" + requestsDescriptor));
        answers = new DataOutputStream(new BufferedOutputStream(new FileOutputStream("/proc/self/fd/" + answersDescriptor)));
    }

    /** @param arguments the numbers of the descriptors of requests and of answers */
    public static void main(String[] arguments) throws Exception {
        // Without a buffer, so that output is seen while the cell runs.
        System.setOut(new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8));
        System.setErr(new PrintStream(new FileOutputStream(FileDescriptor.err), false, StandardCharsets.UTF_8));
        Variables.publish();
        CellRunner runner = new CellRunner(arguments[0], arguments[1]);
        if (arguments.length > 2) {
            // Once through everything that a first cell needs, for the archive of classes.
            runner.rehearse();
            return;
        }
        Thread reader = new Thread(runner::read, "requests");
        reader.setDaemon(true);
        reader.start();
        runner.run();
    }

    private void rehearse() {
        try (JShell shell = newShell()) {
            Cells cells = new Cells(shell, execution);
            cells.run(1, "record R(int a, String b) {}\nint f(int n) { return n / 0; }\nList.of(new R(1, \"a\")).stream().map(x -> x.b()).toList()");
            cells.run(2, "f(1)");
            cells.run(3, "int x = \"\";");
            Variables.set("A", "b");
        }
    }

    private JShell newShell() {
        JShell shell = JShell.builder().executionEngine(execution.provider(), null).build();
        new Cells(shell, execution).run(0, IMPORTS);
        return shell;
    }

    private void run() throws Exception {
        try (JShell shell = newShell()) {
            Cells cells = new Cells(shell, execution);
            answer(READY, List.of());
            while (true) {
                Runnable next = queue.take();
                if (next instanceof Cell) {
                    Cell cell = (Cell) next;
                    runCell(cells, cell.number, cell.code);
                } else {
                    next.run();
                    answer(DONE, List.of());
                }
            }
        }
    }

    private void runCell(Cells cells, int number, String code) throws IOException {
        Outcome outcome;
        execution.begin();
        try {
            outcome = cells.run(number, code);
        } catch (OutOfMemoryError err) {
            outcome = Outcome.failed("OutOfMemoryError", String.valueOf(err.getMessage()), List.of());
        } catch (Throwable err) {
            outcome = Outcome.failed(err.getClass().getSimpleName(), String.valueOf(err.getMessage()), List.of("the kernel could not run the cell"));
        } finally {
            execution.end();
        }
        System.out.flush();
        System.err.flush();
        List<String> parts = new ArrayList<>();
        if (outcome.errorName == null) {
            if (outcome.value != null) parts.add(outcome.value);
            answer(DONE, parts);
        } else {
            parts.add(outcome.errorName);
            parts.add(outcome.errorValue);
            parts.addAll(outcome.traceback);
            answer(FAILED, parts);
        }
    }

    /** Reads requests until the kernel has ended, and ends with it. */
    private void read() {
        try {
            while (true) {
                int kind = requests.readUnsignedByte();
                if (kind == RUN) queue.put(new Cell(requests.readInt(), readText()));
                else if (kind == VARIABLES) queue.put(readVariables());
                else if (kind == STOP) execution.interrupt();
            }
        } catch (EOFException err) {
            Runtime.getRuntime().halt(0);
        } catch (Throwable err) {
            Runtime.getRuntime().halt(1);
        }
    }

    private Runnable readVariables() throws IOException {
        List<Runnable> changes = new ArrayList<>();
        for (int count = requests.readInt(); count > 0; count -= 1) {
            String name = readText();
            String value = requests.readBoolean() ? readText() : null;
            changes.add(() -> Variables.set(name, value));
        }
        return () -> changes.forEach(Runnable::run);
    }

    private String readText() throws IOException {
        return new String(requests.readNBytes(requests.readInt()), StandardCharsets.UTF_8);
    }

    private void answer(int kind, List<String> texts) throws IOException {
        answers.writeByte(kind);
        answers.writeInt(texts.size());
        for (String text : texts) {
            byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
            answers.writeInt(bytes.length);
            answers.write(bytes);
        }
        answers.flush();
    }

    private static final class Cell implements Runnable {
        final int number;
        final String code;

        Cell(int number, String code) {
            this.number = number;
            this.code = code;
        }

        @Override
        public void run() {
            throw new IllegalStateException();
        }
    }
}
