#!/bin/sh
# Compiles the program of the Java kernel, and archives what a first cell needs: a start reads the archive instead of the classes.
set -e
cd "$(dirname "$0")"
classes=$(mktemp -d)
javac -nowarn -XDignore.symbol.file -d "$classes" src/*.java
jar --create --file cell-runner.jar -C "$classes" .
rm -r "$classes"
java -XX:+UseSerialGC -XX:ArchiveClassesAtExit=cell-runner.jsa -Xlog:disable -Xlog:all=error:stderr \
  --add-opens=java.base/java.util=ALL-UNNAMED -cp "$PWD/cell-runner.jar" CellRunner 0 1 rehearse </dev/null
