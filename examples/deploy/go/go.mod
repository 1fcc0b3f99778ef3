module predict

go 1.19
