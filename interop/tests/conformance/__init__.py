"""The conformance kit: each requirement of the documents, a test of it on arrays, and an error that this test catches."""
